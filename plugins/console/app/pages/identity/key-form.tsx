import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { changesOf } from '@/lib/changes.ts'
import { type ApiKey, invalidateIdentity } from '@/pages/identity/words.tsx'
import { Field, Input, Select } from '@/ui/field.tsx'
import { ModelPicker } from '@/ui/model-picker.tsx'
import { NameList, namesIn } from '@/ui/name-list.tsx'
import { type Owner, OwnerPicker } from '@/ui/owner-picker.tsx'
import { SaveDialog } from '@/ui/save-dialog.tsx'

const kinds = ['user', 'service_account'] as const
/** The value for a `datetime-local` input, in UTC. */
const minuteOf = (instant: string | null | undefined) =>
  instant ? new Date(instant).toISOString().slice(0, 16) : ''

export type Saved = ApiKey & { readonly api_key?: string }

export interface KeyFormProps {
  /** null: a new key. */
  readonly apiKey: ApiKey | null
  /** The owner of a new key, if it is already known. */
  readonly owner?: Owner | undefined
  readonly onClose: () => void
  readonly onSaved: (key: Saved) => void
}

/** Creates a key, or changes its name, grants and expiry. */
export function KeyForm({ apiKey, owner: first, onClose, onSaved }: KeyFormProps) {
  const [name, setName] = useState(apiKey?.name ?? '')
  const [owner, setOwner] = useState(first)
  const [mode, setMode] = useState(apiKey?.model_grant_mode ?? 'explicit')
  const [models, setModels] = useState<readonly string[]>(apiKey?.granted_models ?? [])
  const [servers, setServers] = useState(apiKey?.mcp_servers ?? 'all')
  const [expires, setExpires] = useState(minuteOf(apiKey?.expires_at))
  const isAccount = (apiKey?.owner ?? owner)?.kind === 'service_account'
  const grants = isAccount ? 'explicit' : mode
  async function save(): Promise<Saved> {
    const granted = {
      model_grant_mode: grants,
      granted_models: grants === 'all' ? [] : [...models],
    }
    const mcp_servers = servers === 'all' ? servers : namesIn(servers)
    const expires_at = expires === '' ? null : `${expires}:00Z`
    if (apiKey !== null) {
      // Send both grant fields or none, because the config file treats them as one.
      const regrants = Object.keys(changesOf(apiKey, granted)).length > 0
      const kept = expires === minuteOf(apiKey.expires_at)
      const changes = {
        ...changesOf(apiKey, { name, mcp_servers }),
        ...(regrants && granted),
        ...(!kept && { expires_at }),
      }
      if (Object.keys(changes).length === 0) return apiKey
      return await take(
        api.PATCH('/api/v1/admin/api-keys/{api_key_id}', {
          params: { path: { api_key_id: apiKey.api_key_id } },
          body: changes,
        }),
      )
    }
    if (owner === undefined) throw new Error('Choose an owner.')
    const whose =
      owner.kind === 'user'
        ? { kind: 'user' as const, user_id: owner.id }
        : { kind: 'service_account' as const, service_account_id: owner.id }
    return await take(
      api.POST('/api/v1/admin/api-keys', {
        body: {
          name,
          ...granted,
          mcp_servers,
          owner: whose,
          ...(expires_at !== null && { expires_at }),
        },
      }),
    )
  }
  return (
    <SaveDialog
      title={apiKey === null ? 'Create API key' : `Edit API key “${apiKey.name}”`}
      action={apiKey === null ? 'Create key' : 'Save'}
      done={apiKey === null ? 'API key created' : 'API key saved'}
      save={save}
      invalidate={invalidateIdentity}
      onSaved={onSaved}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Name" hint="Where the key is used, such as laptop or CI">
          {(control) => (
            <Input
              {...control}
              required
              maxLength={200}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        <Field label="Expires (UTC)" hint="Leave empty for no expiry">
          {(control) => (
            <Input
              {...control}
              type="datetime-local"
              value={expires}
              onChange={({ target }) => setExpires(target.value)}
            />
          )}
        </Field>
        {apiKey === null && (
          <Field label="Owner" hint="Calls with this key count as the owner’s spend">
            {(control) => (
              <OwnerPicker
                {...control}
                label="A user or a service account"
                kinds={kinds}
                value={owner}
                onChange={setOwner}
              />
            )}
          </Field>
        )}
        <Field
          label="Models"
          {...(isAccount && { hint: 'Keys of service accounts must list their models' })}
        >
          {(control) => (
            <Select
              {...control}
              disabled={isAccount}
              value={grants}
              onChange={({ target }) => setMode(target.value as ApiKey['model_grant_mode'])}
            >
              <option value="explicit">Selected models</option>
              <option value="all">All models of the owner</option>
            </Select>
          )}
        </Field>
        <Field label="MCP servers" hint="A server can also restrict its callers">
          {(control) => (
            <Select
              {...control}
              value={servers === 'all' ? 'all' : 'listed'}
              onChange={({ target }) => setServers(target.value === 'all' ? 'all' : [])}
            >
              <option value="all">All servers</option>
              <option value="listed">Selected servers</option>
            </Select>
          )}
        </Field>
      </div>
      {servers !== 'all' && (
        <NameList
          label="MCP server keys"
          hint="One per line. Leave empty to allow no server"
          value={servers}
          onChange={(names) => setServers([...names])}
        />
      )}
      {grants === 'explicit' && (
        <ModelPicker label="Models and aliases" value={models} onChange={setModels} />
      )}
    </SaveDialog>
  )
}
