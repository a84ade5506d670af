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
  field: nullable(
    Text,
    'Path within the submitted entry; null: the problem is elsewhere in the config.',
  ),
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
    description:
      'As `gateway check-config` reports them: warnings, and with `dry_run` also errors.',
  }),
})

const ManagedView = Type.Object({
  file: nullable(Text, 'Null: the gateway does not read its config from files.'),
  writable: Type.Boolean(),
  unwritable_because: nullable(Text),
  revision: Type.String({
    description: 'Identifies the current content of the file; `none`: the file does not exist.',
  }),
  yaml: Type.String({ description: 'The content of the file.' }),
  provider_keys: Type.Array(Text),
  model_keys: Type.Array(Text),
  undo: nullable(
    Type.Object({ action: Text, object_id: Text, actor_email: Text, created_at: Instant }),
    'The change that undo would revert.',
  ),
})

const VariableView = Type.Object({
  name: Text,
  is_set: Type.Boolean({ description: 'Whether the variable was set when the gateway started.' }),
})

const TypeView = Type.Object({
  type: Text,
  name: nullable(Text, 'The vendor.'),
  key_variables: Type.Array(VariableView, {
    description: "Variables that may be used as the key at the vendor's own address.",
  }),
  address_field: nullable(
    Text,
    'The field with the address. Without it calls go to the vendor; null: not a known vendor.',
  ),
  small_model: nullable(Text, 'A cheap model of the vendor.'),
  page: nullable(Text),
  secret_fields: Type.Array(Text, {
    description: 'Fields of `config` that are secrets, such as `auth.token`.',
  }),
  config: Type.Object(
    {},
    { additionalProperties: true, description: 'JSON Schema of the fields of the type.' },
  ),
})

const entry = (description: string) =>
  Type.Object({}, { additionalProperties: true, maxProperties: 100, description })
const asked = {
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Change nothing; only return the YAML and its problems.' }),
  ),
  revision: Type.Optional(
    Type.String({ description: 'Refuse the change if the file has another revision.' }),
  ),
}
const NewProvider = strictObject({
  provider: entry('As in `providers` of the config file. Secrets are references.'),
  secrets: Type.Optional(
    Type.Record(Text, Type.String({ minLength: 1, maxLength: 65_536 }), {
      description: 'Secrets by field. Each is stored in a file that only the gateway can read.',
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
  /** Variables that providers of any address may use as their key. */
  readonly variables: readonly string[]
}

/** The routes to read and change the managed file. */
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
        'The managed config file: its entries, whether it is writable, and the change to undo.',
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
      summary: 'Provider types with their fields, and the APIs of this gateway.',
      result: Type.Object({
        items: Type.Array(TypeView),
        variables: Type.Array(VariableView, {
          description: 'Variables that may be used as the key of a provider at any address.',
        }),
        surfaces: Type.Array(Text, { description: 'The APIs of this gateway.' }),
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
      summary: 'Adds a provider to the managed file and applies the change.',
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
      summary: 'Adds a model to the managed file and applies the change.',
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
