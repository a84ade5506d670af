import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { authNames, type Server, type Suggestion } from '@/pages/mcp/query.ts'
import { ServerForm } from '@/pages/mcp/server-form.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { Input } from '@/ui/field.tsx'
import { Loaded } from '@/ui/page.tsx'

export interface CatalogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onAdded: (server: Server) => void
}

/** Well-known public servers. Nothing is registered until an admin adds a server. */
export function Catalog({ open, onClose, onAdded }: CatalogProps) {
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState<Suggestion>()
  const query = useGet('/api/v1/admin/mcp/recommended-servers', {}, { enabled: open })
  const registered = useGet(
    '/api/v1/admin/mcp/servers',
    { query: { include_disabled: true, page_size: 200 } },
    { enabled: open },
  )
  const known = new Set(
    registered.data?.items.map(({ recommended_catalog_key }) => recommended_catalog_key),
  )
  return (
    <>
      <Sheet
        open={open}
        onClose={onClose}
        title="Add from the catalog"
        description="Each entry fills in the form, which you can edit before you add the server."
      >
        <div className="grid gap-3">
          <Input
            type="search"
            aria-label="Search the catalog"
            placeholder="Name or description"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
          <Loaded query={query}>
            {({ items }) => (
              <ul className="grid gap-2">
                {items
                  .filter((entry) => matches(entry, search))
                  .map((entry) => (
                    <li
                      key={entry.recommended_catalog_key}
                      className="flex flex-wrap items-start gap-3 rounded-lg border border-line px-4 py-3"
                    >
                      <div className="grid min-w-56 flex-1 gap-0.5">
                        <p className="flex flex-wrap items-center gap-2 font-medium">
                          {entry.display_name}
                          {known.has(entry.recommended_catalog_key) && (
                            <Badge tone="good">registered</Badge>
                          )}
                        </p>
                        <p>{entry.description}</p>
                        <p className="text-xs text-muted [overflow-wrap:anywhere]">
                          {entry.server_url} · {authNames[entry.auth_mode] ?? entry.auth_mode}
                        </p>
                        <p className="flex flex-wrap items-center gap-1 text-xs text-muted [overflow-wrap:anywhere]">
                          Documentation: {entry.documentation_url}
                          <CopyButton
                            text={entry.documentation_url}
                            label={`Copy documentation URL of ${entry.display_name}`}
                          />
                        </p>
                      </div>
                      <Button
                        size="sm"
                        aria-label={`Add ${entry.display_name}`}
                        onClick={() => setChosen(entry)}
                      >
                        Add
                      </Button>
                    </li>
                  ))}
              </ul>
            )}
          </Loaded>
        </div>
      </Sheet>
      {chosen !== undefined && (
        <ServerForm
          suggestion={chosen}
          onClose={() => setChosen(undefined)}
          onSaved={(server) => {
            onClose()
            onAdded(server)
          }}
        />
      )}
    </>
  )
}

function matches({ display_name, description }: Suggestion, search: string): boolean {
  return `${display_name} ${description}`.toLowerCase().includes(search.trim().toLowerCase())
}
