import { count, NOT_KNOWN } from '@/lib/format.ts'
import { reasonText } from '@/lib/pricing.ts'
import type { Route } from '@/pages/models/page.tsx'
import { Badge } from '@/ui/badge.tsx'

const rates = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cache_read', 'Cache read'],
  ['cache_write', 'Cache write'],
] as const satisfies readonly (readonly [keyof Route['price'], string])[]

/** The input and output prices in one line. */
export function PriceLine({ price }: { price: Route['price'] }) {
  if (price.status === 'unpriced') return <Badge tone="warn">no price</Badge>
  if (price.status === 'by_name') return <span className="text-muted">per model</span>
  return (
    <span>
      {money(price.input)} <span className="text-muted">in</span> · {money(price.output)}{' '}
      <span className="text-muted">out</span>
    </span>
  )
}

/** All prices of a route, or why it has none. */
export function PriceDetail({ price }: { price: Route['price'] }) {
  if (price.status === 'by_name') return <p>Each model behind the wildcard has its own price.</p>
  if (price.status === 'unpriced') {
    return (
      <p>
        <Badge tone="warn">no price</Badge>{' '}
        {price.reason === null ? 'The route is not active.' : reasonText(price.reason)}
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
          <dt className="text-xs text-muted">Prompt limit</dt>
          <dd>{count(price.longest_prompt)} tokens; longer prompts have no price</dd>
        </div>
      )}
      <div>
        <dt className="text-xs text-muted">Source</dt>
        <dd>{price.source === 'override' ? 'config file' : 'bundled price list'}</dd>
      </div>
    </dl>
  )
}

const money = (amount: string | null) => (amount === null ? NOT_KNOWN : `$${amount}`)
