import { Link } from '@tanstack/react-router'
import { Health, type Recent } from '@/pages/models/health.tsx'
import { LiveCheck } from '@/pages/models/live-check.tsx'
import { RemoveButton } from '@/pages/models/managed.tsx'
import type { Model, Route } from '@/pages/models/page.tsx'
import { PriceDetail } from '@/pages/models/price.tsx'
import { Badge } from '@/ui/badge.tsx'
import { buttonStyle } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Sheet } from '@/ui/dialog.tsx'

export interface ModelSheetProps {
  /** '': closed. */
  readonly name: string
  readonly model: Model | undefined
  readonly attempts: Recent | undefined
  readonly onClose: () => void
}

/** One model with its routes. */
export function ModelSheet({ name, model, attempts, onClose }: ModelSheetProps) {
  return (
    <Sheet
      open={name !== ''}
      onClose={onClose}
      title={name}
      description={model?.description ?? undefined}
    >
      {model === undefined ? (
        <p className="text-muted">The config has no model with this name.</p>
      ) : (
        <div className="grid gap-4">
          <Facts model={model} />
          {model.routes.map((route) => (
            <RouteCard key={route.route_key} route={route} attempts={attempts} model={model} />
          ))}
          <div className="flex flex-wrap gap-2">
            <Link
              to="/requests"
              search={{ model_key: model.model_key }}
              className={buttonStyle({ size: 'sm' })}
            >
              View requests
            </Link>
            <LiveCheck models={[model]} />
            <RemoveButton what="model" name={model.model_key} />
          </div>
        </div>
      )}
    </Sheet>
  )
}

function Facts({ model: { model_key, tags, rank, alias_of, allowlist } }: { model: Model }) {
  const names = (list: readonly string[]) => (list.length === 0 ? 'none' : list.join(', '))
  return (
    <dl className="grid grid-cols-[8rem_1fr] gap-y-1">
      {alias_of !== null && (
        <>
          <dt className="text-muted">Alias of</dt>
          <dd>{alias_of}</dd>
        </>
      )}
      {model_key.includes('*') && (
        <>
          <dt className="text-muted">Wildcard</dt>
          <dd>
            serves all names that match it and no other model. The part for * is sent upstream
          </dd>
        </>
      )}
      <dt className="text-muted">Tags</dt>
      <dd>{names(tags)}</dd>
      <dt className="text-muted">Rank</dt>
      <dd>{rank} (lower is preferred when a request names a tag)</dd>
      <dt className="text-muted">Access</dt>
      <dd>
        {allowlist === null
          ? 'all API keys that grant it'
          : `users: ${names(allowlist.users)}; teams: ${names(allowlist.teams)}`}
      </dd>
    </dl>
  )
}

interface RouteCardProps {
  readonly model: Model
  readonly route: Route
  readonly attempts: Recent | undefined
}

function RouteCard({ model, route, attempts }: RouteCardProps) {
  const mine = attempts?.filter(
    (item) => item.provider_key === route.provider_key && item.model_key === model.model_key,
  )
  return (
    <section
      aria-label={`Route ${route.route_key}`}
      className="grid gap-3 rounded-lg border border-line p-4"
    >
      <header className="flex flex-wrap items-center gap-2">
        <h3 className="min-w-0 font-semibold">{route.provider_key}</h3>
        <code className="min-w-0 font-mono break-all text-muted">{route.upstream_model}</code>
        <CopyButton text={route.upstream_model} label="Copy upstream model" />
        <span className="ml-auto">
          {route.enabled ? <Badge tone="good">enabled</Badge> : <Badge>disabled</Badge>}
        </span>
      </header>
      <p className="text-muted">
        Priority {route.priority} (lower is preferred), weight {route.weight}
      </p>
      <Health items={mine} />
      <PriceDetail price={route.price} />
      <Capabilities route={route} />
      {Object.keys(route.compatibility).length > 0 && (
        <div>
          <h4 className="text-xs text-muted">Compatibility</h4>
          <pre className="mt-1 overflow-x-auto rounded bg-raised p-2 font-mono text-xs">
            {JSON.stringify(route.compatibility, null, 2)}
          </pre>
        </div>
      )}
      {route.extra_header_names.length > 0 && (
        <p>
          <span className="text-muted">Extra headers: </span>
          {route.extra_header_names.join(', ')}
        </p>
      )}
    </section>
  )
}

/** The capabilities of the route, and those that the config allows but the provider lacks. */
function Capabilities({ route: { capabilities, effective_capabilities } }: { route: Route }) {
  const names = Object.keys(capabilities)
  return (
    <ul className="flex flex-wrap gap-1.5" aria-label="Capabilities">
      {names.map((name) => {
        const works = effective_capabilities[name]
        const note = works ? 'yes' : capabilities[name] ? 'not supported by the provider' : 'off'
        return (
          <li key={name}>
            <Badge tone={works ? 'accent' : 'plain'}>
              {name.replaceAll('_', ' ')}: {note}
            </Badge>
          </li>
        )
      })}
    </ul>
  )
}
