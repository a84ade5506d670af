import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { api, take } from '@/api/client.ts'
import type { User } from '@/lib/session.ts'
import type { Settings } from '@/pages/connect/blocks.ts'
import { invalidateIdentity } from '@/pages/identity/words.tsx'
import { modelsOf } from '@/pages/playground/call.ts'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Field, Input, Select } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'

export interface SettingsCardProps {
  readonly user: User
  readonly settings: Settings
  readonly change: (changes: Partial<Settings>) => void
  /** Models of the config, shown to admins until they enter a key; empty for other users. */
  readonly known: readonly string[]
}

const WAIT_MS = 300

/** Gateway URL, model and key, which all blocks of the page use. */
export function SettingsCard({ user, settings, change, known }: SettingsCardProps) {
  const { url, key, model } = settings
  const { models, problem } = useModels(key)
  const names = models ?? known
  // Prefer a model of the config, because a key may allow thousands.
  const first = known.find((name) => names.includes(name)) ?? names[0] ?? ''
  useEffect(() => {
    if (!names.includes(model)) change({ model: first })
  }, [names, model, first, change])
  return (
    <Card title="Connection settings">
      <div className="grid items-start gap-4 md:grid-cols-3">
        <Fact label="Gateway URL">
          <code className="min-w-0 flex-1 font-mono break-all">{url}</code>
          <CopyButton text={url} label="Copy gateway URL" />
        </Fact>
        <Field
          label="Model"
          hint={models === undefined ? 'Enter a key to list its models' : 'Models of this key'}
        >
          {(control) => (
            <Select
              {...control}
              className="w-full"
              disabled={names.length === 0}
              value={model}
              onChange={({ target }) => change({ model: target.value })}
            >
              {names.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Key user={user} value={key} problem={problem} onKey={(next) => change({ key: next })} />
      </div>
    </Card>
  )
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="grid gap-1">
      <p className="text-xs font-medium">{label}</p>
      <p className="flex min-h-8 items-center gap-2">{children}</p>
    </div>
  )
}

interface KeyProps {
  readonly user: User
  readonly value: string
  readonly problem: string | undefined
  readonly onKey: (key: string) => void
}

/** An existing key or, for admins, a new one. */
function Key({ user, value, problem, onKey }: KeyProps) {
  const isAdmin = user.role === 'platform_admin'
  const making = useMutation({
    mutationFn: () =>
      take(
        api.POST('/api/v1/admin/api-keys', {
          body: {
            name: 'connect',
            owner: { kind: 'user', user_id: user.user_id },
            model_grant_mode: 'all',
            granted_models: [],
            mcp_servers: 'all',
          },
        }),
      ),
    async onSuccess({ api_key }) {
      onKey(api_key)
      await invalidateIdentity()
    },
  })
  if (making.data?.api_key === value && value !== '') {
    return (
      <Notice tone="warn" title="This key is shown only once">
        <span className="flex items-center gap-2">
          <code data-testid="issued-key" className="min-w-0 flex-1 font-mono break-all">
            {value}
          </code>
          <CopyButton text={value} label="Copy key" />
        </span>
      </Notice>
    )
  }
  return (
    <div className="grid gap-2">
      <Field
        label="API key"
        problem={problem}
        hint={
          isAdmin
            ? 'Paste a key, or create one for yourself. It is kept only in this window.'
            : 'Ask an admin for a key. It is kept only in this window.'
        }
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="gwk_…"
            className="font-mono"
            value={value}
            onChange={({ target }) => onKey(target.value.trim())}
          />
        )}
      </Field>
      {isAdmin && (
        <Button disabled={making.isPending} onClick={() => making.mutate()}>
          Create key
        </Button>
      )}
      {making.error !== null && <ErrorPanel error={making.error} />}
    </div>
  )
}

/** The models that a key may use; undefined without a key. */
function useModels(key: string) {
  const [found, setFound] = useState<{
    readonly models?: readonly string[]
    readonly problem?: string
  }>({})
  useEffect(() => {
    setFound({})
    if (key === '') return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      modelsOf(key, stop.signal).then(
        (models) => setFound({ models }),
        (error: Error) => stop.signal.aborted || setFound({ problem: error.message }),
      )
    }, WAIT_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [key])
  return found
}
