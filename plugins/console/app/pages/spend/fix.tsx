import { type Data, useAll } from '@/api/query.ts'
import type { Report } from '@/pages/spend/query.ts'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Loaded } from '@/ui/page.tsx'

type Model = Report['models'][number]
type Route = Data<'/api/v1/admin/models'>['items'][number]['routes'][number]
type Provider = Data<'/api/v1/admin/providers'>['items'][number]

/** What to write into the config file, so that calls of a model have a price from now on. */
export function Fix({ model, onClose }: { model: Model | undefined; onClose: () => void }) {
  return (
    <Dialog
      open={model !== undefined}
      onClose={onClose}
      title={`How calls of ${model?.model_key ?? ''} get a cost`}
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
          For calls without usage: set{' '}
          <code className="font-mono">supports_stream_usage: true</code> under compatibility of the
          route if its provider can tell the usage of streams. Calls that end before their provider
          has told it stay without.
        </p>
      )}
      <p className="text-muted">
        What is in the ledger stays as it is; the change counts for calls from then on.
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
        This model is not in the config any more, so that there is nothing to set. A request of it
        says why it had no price.
      </p>
    )
  }
  const text = configOf(routes, providers)
  return (
    <>
      <p>Set its prices in the config file, in USD for a million tokens:</p>
      <div className="flex items-start gap-1 rounded-md bg-raised p-2">
        <pre className="min-w-0 flex-1 overflow-x-auto font-mono text-xs">{text}</pre>
        <CopyButton text={text} label="Copy the config" />
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
