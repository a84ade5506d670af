import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { type Data, useGet } from '@/api/query.ts'
import { problemAt, usePreview } from '@/lib/managed.ts'
import { entryOf, fieldsOf, isShown, type Schema, type Written } from '@/lib/schema-fields.ts'
import { EntryDialog } from '@/pages/models/entry-dialog.tsx'
import { ProviderFields } from '@/pages/models/provider-fields.tsx'
import { noSecret, referenceOf, type Secret } from '@/pages/models/secret-field.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Field, Input, Select } from '@/ui/field.tsx'
import { Loaded } from '@/ui/page.tsx'

export interface AddProviderProps {
  readonly onClose: () => void
  /** Called with the ID of the new provider. */
  readonly onAdded: (id: string) => void
}

/** A form for a provider of any type that the gateway supports. */
export function AddProvider(props: AddProviderProps) {
  const query = useGet('/api/v1/admin/provider-types', {})
  if (query.data !== undefined) return <Form known={query.data} {...props} />
  return (
    <Dialog open onClose={props.onClose} title="Add provider">
      <Loaded query={query}>{() => null}</Loaded>
    </Dialog>
  )
}

/** A placeholder for a pasted secret in previews, so that the secret is sent only on save. */
const STAND_IN = 'not yet sent'

function setNames(all: Known['variables']): readonly string[] {
  return all.filter(({ is_set }) => is_set).map(({ name }) => name)
}

type Known = Data<'/api/v1/admin/provider-types'>

function Form({ known, onClose, onAdded }: AddProviderProps & { readonly known: Known }) {
  const { items: types, variables: listed } = known
  const [chosen, setChosen] = useState(types[0]?.type ?? '')
  const [id, setId] = useState<string>()
  const [pricing, setPricing] = useState('')
  const [written, setWritten] = useState<Written>({})
  const [secrets, setSecrets] = useState<Readonly<Record<string, Secret>>>({})
  const type = types.find((one) => one.type === chosen) as Known['items'][number]
  const fields = fieldsOf(type.config as Schema)
  const secretPaths = fields.filter(({ kind }) => kind === 'secret').map(({ path }) => path)
  // The gateway rejects the vendor's environment variables for other base URLs.
  const isVendor = type.address_field !== null && (written[type.address_field] ?? '') === ''
  const vendorKeys = isVendor ? setNames(type.key_variables) : []
  const variables = [...new Set([...vendorKeys, ...setNames(listed)])]
  function secretAt(path: string): Secret {
    const [key] = path === secretPaths[0] ? vendorKeys : []
    const secret = secrets[path] ?? (key === undefined ? noSecret : { from: 'env', text: key })
    return secret.from === 'env' && !variables.includes(secret.text) ? noSecret : secret
  }
  const references = Object.fromEntries(
    secretPaths.map((path) => [path, referenceOf(secretAt(path))]),
  )
  const provider = {
    id: id ?? chosen,
    type: chosen,
    ...entryOf(fields, { ...written, ...references }),
    ...(pricing !== '' && { pricing_provider_id: pricing }),
  }
  const pasted = fields.filter(
    (field) =>
      isShown(field, written) &&
      secretPaths.includes(field.path) &&
      secretAt(field.path).from === 'paste' &&
      secretAt(field.path).text !== '',
  )
  const bodyWith = (textOf: (path: string) => string) => ({
    provider,
    secrets: Object.fromEntries(pasted.map(({ path }) => [path, textOf(path)])),
  })
  const preview = usePreview(
    bodyWith(() => STAND_IN),
    (body) =>
      take(
        api.POST('/api/v1/admin/managed-config/providers', { body: { ...body, dry_run: true } }),
      ),
  )
  return (
    <EntryDialog
      title="Add provider"
      action="Add provider"
      done="Provider added"
      preview={preview}
      fields={['id', 'type', 'pricing_provider_id', ...fields.map(({ path }) => path)]}
      save={() =>
        take(
          api.POST('/api/v1/admin/managed-config/providers', {
            body: bodyWith((path) => secretAt(path).text),
          }),
        )
      }
      onSaved={() => onAdded(provider.id)}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <Field
              label="Type"
              hint={
                type.page === null ? 'Determines the fields below' : `Get an API key: ${type.page}`
              }
              problem={problemAt('type', problems)}
            >
              {(control) => (
                <Select
                  {...control}
                  className="w-full"
                  value={chosen}
                  onChange={({ target }) => {
                    setChosen(target.value)
                    setWritten({})
                    setSecrets({})
                  }}
                >
                  {types.map((one) => (
                    <option key={one.type} value={one.type}>
                      {one.name === null ? one.type : `${one.name} (${one.type})`}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
            <Field
              label="ID"
              hint="Routes of models refer to it"
              problem={problemAt('id', problems)}
            >
              {(control) => (
                <Input
                  {...control}
                  required
                  value={id ?? chosen}
                  onChange={({ target }) => setId(target.value)}
                />
              )}
            </Field>
          </div>
          <ProviderFields
            fields={fields}
            written={written}
            secretAt={secretAt}
            variables={variables}
            problems={problems}
            onWrite={(path, text) => setWritten({ ...written, [path]: text })}
            onSecret={(path, secret) => setSecrets({ ...secrets, [path]: secret })}
          />
          <Field
            label="Price list"
            hint="Leave empty for the default of the type. Without a price list, calls are unpriced"
            problem={problemAt('pricing_provider_id', problems)}
          >
            {(control) => (
              <Input
                {...control}
                value={pricing}
                onChange={({ target }) => setPricing(target.value)}
              />
            )}
          </Field>
        </>
      )}
    </EntryDialog>
  )
}
