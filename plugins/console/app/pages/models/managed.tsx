import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { dateTime } from '@/lib/format.ts'
import { invalidateConfig, useManaged } from '@/lib/managed.ts'
import { AddModel } from '@/pages/models/add-model.tsx'
import { AddProvider } from '@/pages/models/add-provider.tsx'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { DoButton } from '@/ui/do-button.tsx'
import { Loaded } from '@/ui/page.tsx'

type Adding = { readonly what: 'provider' } | { readonly what: 'model'; readonly provider: string }

/** Buttons to add a provider or a model. Adding a provider continues with a model of it. */
export function AddButtons() {
  const [adding, setAdding] = useState<Adding>()
  const close = () => setAdding(undefined)
  return (
    <>
      <Button onClick={() => setAdding({ what: 'provider' })}>Add provider</Button>
      <Button onClick={() => setAdding({ what: 'model', provider: '' })}>Add model</Button>
      {adding?.what === 'provider' && (
        <AddProvider
          onClose={close}
          onAdded={(provider) => setAdding({ what: 'model', provider })}
        />
      )}
      {adding?.what === 'model' && (
        <AddModel provider={adding.provider} onClose={close} onAdded={close} />
      )}
    </>
  )
}

const names: Readonly<Record<string, string>> = {
  'provider.add': 'added the provider',
  'provider.remove': 'removed the provider',
  'model.add': 'added the model',
  'model.remove': 'removed the model',
}

/** The managed file, with a button to undo the last change. */
export function ManagedFile() {
  const query = useManaged()
  return (
    <Card
      title="Managed file"
      note="Providers and models that were added in the console"
      actions={query.data?.yaml && <CopyButton text={query.data.yaml} label="Copy YAML" />}
    >
      <Loaded query={query}>
        {({ file, writable, unwritable_because, yaml, undo, revision }) => (
          <div className="grid gap-3">
            <p>
              {file !== null && <code className="font-mono break-all">{file}</code>}{' '}
              {writable ? '' : `Read-only: ${unwritable_because}`}
            </p>
            {yaml !== '' && (
              <pre
                // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
                tabIndex={0}
                className="max-h-64 overflow-auto rounded-md bg-raised p-2 font-mono text-xs"
              >
                {yaml}
              </pre>
            )}
            {yaml === '' && <p className="text-muted">No entries yet.</p>}
            {undo !== null && (
              <p className="flex flex-wrap items-center gap-2">
                <span>
                  {undo.actor_email} {names[undo.action] ?? undo.action}{' '}
                  <strong>{undo.object_id}</strong>, {dateTime(undo.created_at)}
                </span>
                <DoButton
                  action="Undo"
                  title="Undo this change?"
                  consequence={`Restores the file to its state before ${undo.actor_email} ${names[undo.action] ?? undo.action} ${undo.object_id}, and reloads it.`}
                  done="Change undone"
                  act={() =>
                    take(api.POST('/api/v1/admin/managed-config/undo', { body: { revision } }))
                  }
                  invalidate={invalidateConfig}
                />
              </p>
            )}
          </div>
        )}
      </Loaded>
    </Card>
  )
}

/** A button that removes an entry of the managed file; nothing for entries of the config file. */
export function RemoveButton({ what, name }: { what: 'provider' | 'model'; name: string }) {
  const { data } = useManaged()
  const keys = what === 'model' ? data?.model_keys : data?.provider_keys
  if (data === undefined || keys?.includes(name) !== true) return null
  const query = { revision: data.revision }
  return (
    <DoButton
      action="Remove"
      title={`Remove ${what} “${name}”?`}
      consequence={`Removes the ${what} from ${data.file}. Calls that use it fail immediately. You can undo this change.`}
      done={`Removed ${what} “${name}”`}
      act={() =>
        what === 'model'
          ? take(
              api.DELETE('/api/v1/admin/managed-config/models/{model_key}', {
                params: { path: { model_key: name }, query },
              }),
            )
          : take(
              api.DELETE('/api/v1/admin/managed-config/providers/{provider_key}', {
                params: { path: { provider_key: name }, query },
              }),
            )
      }
      invalidate={invalidateConfig}
    />
  )
}
