import { type AdminRoute, adminRoute } from 'model-gateway/admin'
import { type JsonObject, strictObject, Type } from 'model-gateway/plugin'
import { Instant, nullable, oneOf, Text } from '../_shared/schema.ts'
import type { ConfigHost } from './access.ts'
import type { Editor, NewEntry } from './editor.ts'
import { entriesOf, revisionOf } from './fragment.ts'
import { secretFields } from './secrets.ts'
import type { Store } from './store.ts'

const PATH = '/api/v1/admin/managed-config'
const shared = { audience: 'platform_admin', tag: 'config' } as const

const ProblemView = Type.Object({
  path: Text,
  field: nullable(Text, 'Path within the entry that was sent; null: it is elsewhere.'),
  message: Text,
  hint: nullable(Text),
  severity: oneOf(['error', 'warning']),
  file: Text,
  line: nullable(Type.Integer()),
  column: nullable(Type.Integer()),
})

const ChangeView = Type.Object({
  file: Type.String({ description: 'The managed file.' }),
  in_force: Type.Boolean({ description: 'False after `dry_run`.' }),
  revision: Text,
  yaml: Type.String({ description: 'The entry as YAML, to be copied into another config.' }),
  problems: Type.Array(ProblemView, {
    description: 'As `gateway check-config` reports them: warnings; after `dry_run` errors, too.',
  }),
})

const ManagedView = Type.Object({
  file: nullable(Text, 'Null: the gateway does not read its config from files.'),
  writable: Type.Boolean(),
  unwritable_because: nullable(Text),
  revision: Type.String({ description: 'Names what the file says now; `none`: there is no file.' }),
  yaml: Type.String({ description: 'What the file says.' }),
  provider_keys: Type.Array(Text),
  model_keys: Type.Array(Text),
  undo: nullable(
    Type.Object({ action: Text, object_id: Text, actor_email: Text, created_at: Instant }),
    'The change that would be undone.',
  ),
})

const VariableView = Type.Object({
  name: Text,
  is_set: Type.Boolean({ description: 'Whether the gateway was started with it.' }),
})

const TypeView = Type.Object({
  type: Text,
  name: nullable(Text, 'The vendor.'),
  key_variables: Type.Array(VariableView, {
    description: "Can be the key at the vendor's own address.",
  }),
  address_field: nullable(Text, 'Left out, calls go to the vendor; null: not a known vendor.'),
  small_model: nullable(Text, 'A cheap model of the vendor.'),
  page: nullable(Text),
  secret_fields: Type.Array(Text, {
    description: 'Fields of `config` that are secrets: `auth.token`.',
  }),
  config: Type.Object(
    {},
    { additionalProperties: true, description: 'JSON Schema of the fields that the type has.' },
  ),
})

const entry = (description: string) =>
  Type.Object({}, { additionalProperties: true, maxProperties: 100, description })
const asked = {
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Change nothing: tell the YAML and its problems.' }),
  ),
  revision: Type.Optional(
    Type.String({ description: 'Refuse the change when the file has another revision.' }),
  ),
}
const NewProvider = strictObject({
  provider: entry('As in `providers` of the config file. Secrets are references.'),
  secrets: Type.Optional(
    Type.Record(Text, Type.String({ minLength: 1, maxLength: 65_536 }), {
      description: 'By field. Each is stored in a file that the gateway alone reads.',
    }),
  ),
  ...asked,
})
const NewModel = strictObject({ model: entry('As in `models` of the config file.'), ...asked })
const errors = ['not_found', 'conflict', 'validation_failed'] as const

export interface RouteParts {
  readonly host: ConfigHost
  readonly editor: Editor
  readonly store: Store
  /** Ids of the APIs that the gateway has. */
  readonly surfaces: () => readonly string[]
  /** Variables that providers of any address may have as their key. */
  readonly variables: readonly string[]
}

/** What the managed file has, and its changes. */
export function createRoutes({
  host,
  editor,
  store,
  surfaces,
  variables,
}: RouteParts): AdminRoute[] {
  return [
    adminRoute({
      ...shared,
      method: 'GET',
      path: PATH,
      summary:
        'The managed config file: what it has, whether it can be written, what can be undone.',
      result: ManagedView,
      errors: ['conflict'],
      async handle() {
        const { file } = host.access ?? { file: null }
        const text = await editor.read()
        const fault = editor.fault()
        const last = file === null ? undefined : await store.last(file)
        const isLast =
          last !== undefined && revisionOf(last.after_text ?? undefined) === revisionOf(text)
        return {
          file,
          writable: fault === undefined,
          unwritable_because: fault ?? null,
          revision: revisionOf(text),
          yaml: text ?? '',
          provider_keys: idsOf(text, 'providers'),
          model_keys: idsOf(text, 'models'),
          undo: isLast
            ? {
                action: last.action,
                object_id: last.object_id,
                actor_email: last.actor_email,
                created_at: last.created_at.toISOString(),
              }
            : null,
        }
      },
    }),
    adminRoute({
      ...shared,
      method: 'GET',
      path: '/api/v1/admin/provider-types',
      summary:
        'The types that a provider can have, with their fields, and the APIs of this gateway.',
      result: Type.Object({
        items: Type.Array(TypeView),
        variables: Type.Array(VariableView, {
          description: 'Can be the key of a provider of any address.',
        }),
        surfaces: Type.Array(Text, { description: 'The APIs that this gateway has.' }),
      }),
      handle() {
        const { types = [], vendors = [], isSet } = host.access ?? {}
        const viewOf = (name: string) => ({ name, is_set: isSet?.(name) === true })
        const items = types.map(({ type, config }) => {
          const vendor = vendors.find((one) => one.type === type)
          return {
            type,
            name: vendor?.name ?? null,
            key_variables: (vendor?.keys ?? []).map(viewOf),
            address_field: vendor?.address ?? null,
            small_model: vendor?.smallModel ?? null,
            page: vendor?.page ?? null,
            secret_fields: [...secretFields(config)],
            config: JSON.parse(JSON.stringify(config)) as JsonObject,
          }
        })
        items.sort((a, b) => label(a).localeCompare(label(b)))
        return { items, variables: variables.map(viewOf), surfaces: [...surfaces()] }
      },
    }),
    adminRoute({
      ...shared,
      method: 'POST',
      path: `${PATH}/providers`,
      summary: 'Adds a provider to the managed file and puts it into force.',
      body: NewProvider,
      result: ChangeView,
      errors,
      handle: ({ body: { provider, ...rest }, caller, requestId }) =>
        editor.add('providers', asEntry(provider, rest), { caller, requestId }),
    }),
    adminRoute({
      ...shared,
      method: 'POST',
      path: `${PATH}/models`,
      summary: 'Adds a model to the managed file and puts it into force.',
      body: NewModel,
      result: ChangeView,
      errors,
      handle: ({ body: { model, ...rest }, caller, requestId }) =>
        editor.add('models', asEntry(model, rest), { caller, requestId }),
    }),
    adminRoute({
      ...shared,
      method: 'DELETE',
      path: `${PATH}/providers/{provider_key}`,
      summary: 'Removes a provider from the managed file.',
      params: Type.Object({ provider_key: Text }),
      query: strictObject(asked),
      result: ChangeView,
      errors: ['conflict'],
      handle: ({ params, query, caller, requestId }) =>
        editor.remove('providers', params.provider_key, query, { caller, requestId }),
    }),
    adminRoute({
      ...shared,
      method: 'DELETE',
      path: `${PATH}/models/{model_key}`,
      summary: 'Removes a model from the managed file.',
      params: Type.Object({ model_key: Text }),
      query: strictObject(asked),
      result: ChangeView,
      errors: ['conflict'],
      handle: ({ params, query, caller, requestId }) =>
        editor.remove('models', params.model_key, query, { caller, requestId }),
    }),
    adminRoute({
      ...shared,
      method: 'POST',
      path: `${PATH}/undo`,
      summary: 'Undoes the last change of the managed file.',
      body: strictObject({ revision: asked.revision }),
      result: Type.Object({ undone: Text, object_id: Text, revision: Text }),
      errors,
      handle: ({ body, caller, requestId }) => editor.undo(body, { caller, requestId }),
    }),
  ]
}

function asEntry(entry: object, rest: Omit<NewEntry, 'entry'>): NewEntry {
  return { ...rest, entry: entry as JsonObject }
}

const label = ({ name, type }: { name: string | null; type: string }) => name ?? type

function idsOf(text: string | undefined, section: 'providers' | 'models'): string[] {
  return entriesOf(text, section).map(({ id }) => String(id))
}
