import { count } from '@/lib/format.ts'
import type { Route } from '@/pages/models/page.tsx'
import { Badge } from '@/ui/badge.tsx'

const rates = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cache_read', 'Cache read'],
  ['cache_write', 'Cache write'],
] as const satisfies readonly (readonly [keyof Route['price'], string])[]

/** Why a route has no price, and what gives it one. */
const reasons: Readonly<Record<string, string>> = {
  provider_pricing_source_missing: 'its provider names no price list (pricing_provider_id)',
  unsupported_pricing_provider_id: 'there is no price list of that name',
  unsupported_publisher: 'models of this publisher are in no price list',
  unsupported_location: 'there is no price for this location',
  model_not_found: 'the price list does not have this model',
}

function reasonText(reason: string | null): string {
  return reason === null ? 'the route is not in force' : (reasons[reason] ?? reason)
}

/** Input and output, in a line. */
export function PriceLine({ price }: { price: Route['price'] }) {
  if (price.status === 'unpriced') return <Badge tone="warn">no price</Badge>
  return (
    <span>
      {money(price.input)} <span className="text-muted">in</span> · {money(price.output)}{' '}
      <span className="text-muted">out</span>
    </span>
  )
}

/** All that a route costs, or why it costs nothing. */
export function PriceDetail({ price }: { price: Route['price'] }) {
  if (price.status === 'unpriced') {
    return (
      <p>
        <Badge tone="warn">no price</Badge> {reasonText(price.reason)}. Set{' '}
        <code className="font-mono">pricing_provider_id</code> on its provider, or a price under{' '}
        <code className="font-mono">pricing.overrides</code>.
      </p>
    )
  }
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1">
      {rates.map(([key, label]) => (
        <div key={key}>
          <dt className="text-xs text-muted">{label}</dt>
          <dd>{price[key] === null ? 'no price' : money(price[key])}</dd>
        </div>
      ))}
      {price.longest_prompt !== null && (
        <div>
          <dt className="text-xs text-muted">For prompts of up to</dt>
          <dd>{count(price.longest_prompt)} tokens; longer ones have no price</dd>
        </div>
      )}
      <div>
        <dt className="text-xs text-muted">From</dt>
        <dd>{price.source === 'override' ? 'the config file' : 'the bundled price list'}</dd>
      </div>
    </dl>
  )
}

const money = (amount: string | null) => (amount === null ? 'n/a' : `$${amount}`)
