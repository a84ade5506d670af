import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { changesOf } from '@/lib/changes.ts'
import { AllowlistFields, allowlistOf, callersOf } from '@/pages/mcp/allowlist-fields.tsx'
import { type Auth, AuthFields, configOf } from '@/pages/mcp/auth-fields.tsx'
import { invalidateServers, type Server, type Suggestion } from '@/pages/mcp/query.ts'
import { Field, Input, Textarea } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SaveDialog } from '@/ui/save-dialog.tsx'

const TIMEOUT_MS = 30_000

export interface ServerFormProps {
  /** The one that is changed; without it, a new one is made. */
  readonly server?: Server
  /** What fills in a new one. */
  readonly suggestion?: Suggestion
  readonly onClose: () => void
  readonly onSaved: (server: Server) => void
}

export function ServerForm({ server, suggestion, onClose, onSaved }: ServerFormProps) {
  const start = server ?? suggestion
  const [key, setKey] = useState(suggestion?.server_key ?? '')
  const [name, setName] = useState(start?.display_name ?? '')
  const [description, setDescription] = useState(start?.description ?? '')
  const [url, setUrl] = useState(start?.server_url ?? '')
  const [timeout, setTimeout] = useState(String(server?.timeout_ms ?? TIMEOUT_MS))
  const [auth, setAuth] = useState<Auth>({
    mode: start?.auth_mode ?? 'none',
    config: start?.auth_config ?? {},
  })
  const [callers, setCallers] = useState(callersOf(server?.allowlist))
  const config = configOf(auth)
  async function save(): Promise<Server> {
    const fields = {
      display_name: name,
      description: description === '' ? null : description,
      server_url: url,
      auth_mode: auth.mode,
      auth_config: config ?? {},
      timeout_ms: Number(timeout),
      allowlist: allowlistOf(callers),
    }
    if (server !== undefined) {
      const path = { server_id: server.mcp_server_id }
      const body = changesOf(server, fields)
      return (
        await take(api.PATCH('/api/v1/admin/mcp/servers/{server_id}', { params: { path }, body }))
      ).server
    }
    const catalog = suggestion && { recommended_catalog_key: suggestion.recommended_catalog_key }
    const body = { ...catalog, server_key: key, ...fields }
    return (await take(api.POST('/api/v1/admin/mcp/servers', { body }))).server
  }
  const moves =
    server !== undefined &&
    server.auth_config.secret_ref !== undefined &&
    server.auth_config.secret_ref === config?.secret_ref &&
    originOf(url) !== originOf(server.server_url)
  return (
    <SaveDialog
      title={server === undefined ? 'Add a server' : `Edit ${server.display_name}`}
      description={
        server === undefined
          ? undefined
          : 'Calls that begin from now on follow the change, on every replica within a second.'
      }
      action={server === undefined ? 'Add' : 'Save'}
      ready={config !== undefined}
      done={server === undefined ? `${name} is registered` : 'Saved'}
      save={save}
      invalidate={invalidateServers}
      onSaved={(saved) => {
        onClose()
        onSaved(saved)
      }}
      onClose={onClose}
    >
      {server === undefined && (
        <Field
          label="Key"
          hint={`3 to 64 of a-z, 0-9, - and _. Callers use it: /mcp/${key === '' ? 'KEY' : key}. It never changes.`}
        >
          {(control) => (
            <Input
              {...control}
              required
              pattern="[a-z0-9_\-]{3,64}"
              value={key}
              onChange={({ target }) => setKey(target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Name">
        {(control) => (
          <Input
            {...control}
            required
            maxLength={120}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <Field label="Description" hint="Optional.">
        {(control) => (
          <Textarea
            {...control}
            maxLength={2000}
            className="min-h-14"
            value={description}
            onChange={({ target }) => setDescription(target.value)}
          />
        )}
      </Field>
      <Field
        label="URL"
        hint="Streamable HTTP. A private address needs mcp.allow_private_networks or mcp.allowed_cidrs in the config file."
      >
        {(control) => (
          <Input
            {...control}
            required
            maxLength={2048}
            placeholder="https://mcp.example.com/mcp"
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        )}
      </Field>
      {moves && (
        <Notice tone="warn" title="The same secret will go to another origin">
          Give it another secret reference, unless both belong to the same people.
        </Notice>
      )}
      <AuthFields value={auth} onChange={setAuth} />
      <AllowlistFields value={callers} onChange={setCallers} />
      <Field label="Timeout (ms)" hint="Longest time to the head of a reply, 1000 to 120000.">
        {(control) => (
          <Input
            {...control}
            type="number"
            required
            min={1000}
            max={120_000}
            value={timeout}
            onChange={({ target }) => setTimeout(target.value)}
          />
        )}
      </Field>
    </SaveDialog>
  )
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}
