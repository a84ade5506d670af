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
  /** The server to edit; undefined: a new one. */
  readonly server?: Server
  /** A catalog entry that fills in the form of a new server. */
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
      title={server === undefined ? 'Add server' : `Edit ${server.display_name}`}
      description={
        server === undefined
          ? undefined
          : 'Changes apply to new calls, on every replica within a second.'
      }
      action={server === undefined ? 'Add' : 'Save'}
      ready={config !== undefined}
      done={server === undefined ? `Added ${name}` : 'Saved'}
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
          hint={`3 to 64 of a-z, 0-9, - and _. Clients use it in the URL: /mcp/${key === '' ? 'KEY' : key}. Cannot be changed later.`}
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
        hint="A Streamable HTTP endpoint. Private addresses require mcp.allow_private_networks or mcp.allowed_cidrs in the config file."
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
        <Notice tone="warn" title="The same secret will be sent to another origin">
          Use another secret reference, unless both origins have the same operator.
        </Notice>
      )}
      <AuthFields value={auth} onChange={setAuth} />
      <AllowlistFields value={callers} onChange={setCallers} />
      <Field label="Timeout (ms)" hint="Maximum wait for response headers, 1000 to 120000.">
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
