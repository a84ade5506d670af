import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { useAll, useGet } from '@/api/query.ts'
import { problemAt, usePreview } from '@/lib/managed.ts'
import { EntryDialog } from '@/pages/models/entry-dialog.tsx'
import { Field, Input, Select } from '@/ui/field.tsx'

export interface AddModelProps {
  /** '': the first provider. */
  readonly provider: string
  readonly onClose: () => void
  readonly onAdded: () => void
}

/** A form for a model with one route. */
export function AddModel({ provider: first, onClose, onAdded }: AddModelProps) {
  const providers = useAll('/api/v1/admin/providers', {}).data?.items ?? []
  const types = useGet('/api/v1/admin/provider-types', {}).data?.items
  const [chosen, setChosen] = useState(first)
  const [upstream, setUpstream] = useState('*')
  const [id, setId] = useState<string>()
  const [description, setDescription] = useState('')
  const provider = chosen || (providers[0]?.provider_key ?? '')
  // A provider that was just added may not be in the list yet.
  const names = [...new Set([provider, ...providers.map(({ provider_key }) => provider_key)])]
  const type = providers.find(({ provider_key }) => provider_key === provider)?.type
  const small = types?.find((one) => one.type === type)?.small_model
  const model = {
    id: id ?? `${provider}/${upstream}`,
    ...(description !== '' && { description }),
    routes: [{ provider, upstream_model: upstream }],
  }
  const path = '/api/v1/admin/managed-config/models'
  const preview = usePreview({ model }, (body) =>
    take(api.POST(path, { body: { ...body, dry_run: true } })),
  )
  return (
    <EntryDialog
      title="Add model"
      action="Add model"
      done="Model added"
      preview={preview}
      fields={['id', 'description', 'routes[0].provider', 'routes[0].upstream_model']}
      save={() => take(api.POST(path, { body: { model } }))}
      onSaved={onAdded}
      onClose={onClose}
    >
      {(problems) => (
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Provider" problem={problemAt('routes[0].provider', problems)}>
            {(control) => (
              <Select
                {...control}
                className="w-full"
                value={provider}
                onChange={({ target }) => setChosen(target.value)}
              >
                {names.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field
            label="Upstream model"
            hint={`* serves all models of the provider${small ? `, such as ${small}` : ''}`}
            problem={problemAt('routes[0].upstream_model', problems)}
          >
            {(control) => (
              <Input
                {...control}
                required
                value={upstream}
                onChange={({ target }) => setUpstream(target.value.trim())}
              />
            )}
          </Field>
          <Field
            label="Name"
            hint="The model name in requests. Use * as a placeholder for the upstream model"
            problem={problemAt('id', problems)}
          >
            {(control) => (
              <Input
                {...control}
                required
                value={model.id}
                onChange={({ target }) => setId(target.value.trim())}
              />
            )}
          </Field>
          <Field label="Description" problem={problemAt('description', problems)}>
            {(control) => (
              <Input
                {...control}
                value={description}
                onChange={({ target }) => setDescription(target.value)}
              />
            )}
          </Field>
        </div>
      )}
    </EntryDialog>
  )
}
