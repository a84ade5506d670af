import { type Data, useAll } from '@/api/query.ts'
import type { Report } from '@/pages/spend/query.ts'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Loaded } from '@/ui/page.tsx'

type Model = Report['models'][number]
type Route = Data<'/api/v1/admin/models'>['items'][number]['routes'][number]
type Provider = Data<'/api/v1/admin/providers'>['items'][number]

/** Explains how to give calls of a model a price in the config file. */
export function Fix({ model, onClose }: { model: Model | undefined; onClose: () => void }) {
  return (
    <Dialog
      open={model !== undefined}
      onClose={onClose}
      title={`Set prices for ${model?.model_key ?? ''}`}
      className="w-[min(40rem,calc(100vw-2rem))]"
    >
      {model !== undefined && <Advice model={model} />}
    </Dialog>
  )
}

function Advice({ model }: { model: Model }) {
  const models = useAll('/api/v1/admin/models', {})
  const providers = useAll('/api/v1/admin/providers', {})
  return (
    <div className="grid gap-3">
      {model.unpriced_count > 0 && (
        <Loaded query={models}>
          {({ items }) => (
            <Loaded query={providers}>
              {(known) => (
                <Prices
                  routes={
                    items.find(({ model_key }) => model_key === model.resolved_model_key)?.routes ??
                    []
                  }
                  providers={known.items}
                />
              )}
            </Loaded>
          )}
        </Loaded>
      )}
      {model.usage_missing_count > 0 && (
        <p>
          Calls without usage: set <code className="font-mono">supports_stream_usage: true</code>{' '}
          under compatibility of the route, if its provider can report usage in streams. Calls that
          are canceled before the provider reports usage stay without it.
        </p>
      )}
      <p className="text-muted">
        Past ledger entries do not change. The new prices apply to later calls.
      </p>
    </div>
  )
}

function Prices({
  routes,
  providers,
}: {
  routes: readonly Route[]
  providers: readonly Provider[]
}) {
  if (routes.length === 0) {
    return (
      <p>
        This model is no longer in the config, so no price can be set. Open one of its requests to
        see why it had no price.
      </p>
    )
  }
  const text = configOf(routes, providers)
  return (
    <>
      <p>Set prices in the config file, in USD per million tokens:</p>
      <div className="flex items-start gap-1 rounded-md bg-raised p-2">
        <pre className="min-w-0 flex-1 overflow-x-auto font-mono text-xs">{text}</pre>
        <CopyButton text={text} label="Copy config" />
      </div>
    </>
  )
}

function configOf(routes: readonly Route[], providers: readonly Provider[]): string {
  const without: string[] = []
  const overrides = routes.map(({ provider_key, upstream_model }) => {
    const listed = providers.find((one) => one.provider_key === provider_key)?.pricing_provider_id
    if (listed === null || listed === undefined) {
      without.push(`  - id: ${JSON.stringify(provider_key)}`)
      without.push(`    pricing_provider_id: ${JSON.stringify(provider_key)} # add this line`)
    }
    return [
      `    - pricing_provider_id: ${JSON.stringify(listed ?? provider_key)}`,
      `      model: ${JSON.stringify(upstream_model)}`,
      `      input_usd_per_million: "…"`,
      `      output_usd_per_million: "…"`,
    ].join('\n')
  })
  return [
    ...(without.length > 0 ? ['providers:', ...new Set(without)] : []),
    'pricing:',
    '  overrides:',
    ...new Set(overrides),
  ].join('\n')
}
