import { type Data, useGet } from '@/api/query.ts'
import { changesBetween } from '@/lib/changes.ts'
import { dateTime } from '@/lib/format.ts'
import { compareTexts, flagsOf } from '@/pages/mcp/diff.ts'
import type { Tool } from '@/pages/mcp/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Changes } from '@/ui/changes.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Visible } from '@/ui/visible.tsx'

type Version =
  Data<'/api/v1/admin/mcp/servers/{server_id}/tools/{tool_id}/versions'>['items'][number]

const MOST = 50

/** The versions of a tool's definition, each compared with the version before. */
export function History({ serverId, tool }: { serverId: string; tool: Tool }) {
  const query = useGet('/api/v1/admin/mcp/servers/{server_id}/tools/{tool_id}/versions', {
    path: { server_id: serverId, tool_id: tool.mcp_tool_id },
    query: { page_size: MOST },
  })
  return (
    <Loaded query={query}>
      {({ items }) => (
        <ol className="grid gap-3" aria-label="Versions, newest first">
          {items.map((version, at) => (
            <li key={version.tool_version_id}>
              <VersionCard version={version} before={items[at + 1]} current={at === 0} />
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  )
}

interface VersionCardProps {
  readonly version: Version
  readonly before: Version | undefined
  readonly current: boolean
}

function VersionCard({ version, before, current }: VersionCardProps) {
  const flags = before === undefined ? [] : flagsOf(before, version)
  return (
    <article className="grid gap-2 rounded-lg border border-line px-4 py-3">
      <header className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{dateTime(version.discovered_at)}</span>
        {current && <Badge tone="accent">current</Badge>}
        <span className="text-muted">schema version {version.schema_version}</span>
      </header>
      {flags.length > 0 && (
        <ul className="flex flex-wrap gap-1.5" aria-label="What changed">
          {flags.map(({ text, risky }) => (
            <li key={text} className="max-w-full truncate" title={text}>
              <Badge tone={risky ? 'bad' : 'warn'}>{text}</Badge>
            </li>
          ))}
        </ul>
      )}
      {before === undefined ? (
        <p className="text-muted">First discovered version.</p>
      ) : (
        <Difference before={before} after={version} />
      )}
    </article>
  )
}

function Difference({ before, after }: { before: Version; after: Version }) {
  const schema = changesBetween(before.input_schema, after.input_schema)
  const hints = changesBetween(before.annotations ?? {}, after.annotations ?? {})
  return (
    <>
      {before.description !== after.description && (
        <div className="grid gap-1">
          <h4 className="text-xs text-muted">Description</h4>
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            {compareTexts(before.description ?? '', after.description ?? '').map(
              ({ kind, text }, n) => {
                const shown = <Visible text={text} />
                // biome-ignore-start lint/suspicious/noArrayIndexKey: pieces of one text, which never move
                if (kind === 'gone') {
                  return (
                    <del key={n} className="rounded bg-bad-soft text-bad">
                      {shown}
                    </del>
                  )
                }
                if (kind === 'new') {
                  return (
                    <ins key={n} className="rounded bg-good-soft text-good">
                      {shown}
                    </ins>
                  )
                }
                return <span key={n}>{shown}</span>
                // biome-ignore-end lint/suspicious/noArrayIndexKey: see above
              },
            )}
          </p>
        </div>
      )}
      {schema.length > 0 && <Changes title="Schema" changes={schema} />}
      {hints.length > 0 && <Changes title="Annotations" changes={hints} />}
    </>
  )
}
