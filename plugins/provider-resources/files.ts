import { appendFile, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { HttpCall, HttpRoute } from 'model-gateway/http'
import { type Identity, mayBeRevoked, presentedKey } from 'model-gateway/identity'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import { invalid } from 'model-gateway/wire'
import type { Account, Accounts } from './accounts.ts'
import { type Handler, jsonAnswer, type Route, readReply, type Served, streamed } from './door.ts'
import { type BatchLines, writeLines } from './lines.ts'
import type { Models } from './models.ts'
import { formEnd, type SpooledForm, spoolForm } from './multipart.ts'
import type { StoredFile } from './rows.ts'
import type { Page, Store } from './store.ts'

export interface FilesOptions {
  readonly store: Store
  readonly accounts: Accounts
  readonly models: Models
  readonly identity: () => Identity
  /** Directory of uploads while they are read. */
  readonly directory: () => string
  readonly maxBytes: number
}

/** Form fields for the gateway, which are not sent to the provider. */
const PROVIDER = 'provider'
const PROVIDER_HEADER = 'x-gateway-provider'
/** Bytes of the form in addition to the file. */
const FORM_BYTES = 1024 * 1024

/** `/v1/files`: served by the provider that stores the file, for the owner that uploaded it. */
export function fileRoutes(route: Route, options: FilesOptions): readonly HttpRoute[] {
  const { store, accounts } = options
  const ofFile = (
    method: 'GET' | 'DELETE',
    path: string,
    handle: (served: Served, file: StoredFile, account: Account) => ReturnType<Handler>,
  ) =>
    route('files', method, path, async (served) => {
      const { id = '' } = served.call.params
      const file = await store.file(served.principal.ownershipScopeKey, id)
      if (file === undefined) throw notFound(id)
      return await handle(served, file, accounts.open(file.provider, 'files', `the file '${id}'`))
    })

  return [
    route('files', 'POST', '/v1/files', (served) => upload(served, options)),
    route('files', 'GET', '/v1/files', async ({ call, principal }) => {
      const query = call.url().searchParams
      const page = readPage(query, 10_000)
      const purpose = query.get('purpose') ?? undefined
      const owner = principal.ownershipScopeKey
      const found = await store.files(owner, { ...page, limit: page.limit + 1, purpose })
      return jsonAnswer(
        listOf(
          found.map(({ object }) => object),
          page.limit,
        ),
      )
    }),
    ofFile('GET', '/v1/files/:id', async (served, { fileId }, account) => {
      const path = `files/${encodeURIComponent(fileId)}`
      const { answer } = await readReply(await served.send(account, { method: 'GET', path }))
      return answer()
    }),
    ofFile('GET', '/v1/files/:id/content', async (served, { fileId }, account) => {
      const path = `files/${encodeURIComponent(fileId)}/content`
      return streamed(await served.send(account, { method: 'GET', path }), served.call)
    }),
    ofFile('DELETE', '/v1/files/:id', async (served, { fileId }, account) => {
      const owner = served.principal.ownershipScopeKey
      if (await store.isAwaited(owner, fileId)) {
        throw new GatewayError(
          'conflict',
          `the file '${fileId}' is the output of a batch whose cost is being calculated: try again in a moment`,
          { headers: { 'retry-after': '2' } },
        )
      }
      const path = `files/${encodeURIComponent(fileId)}`
      const deleting = served.send(account, { method: 'DELETE', path })
      const reply = await deleting.catch(async (error: unknown) => {
        // The file expired, or was deleted at the provider.
        if (error instanceof GatewayError && error.status === 404)
          await store.removeFile(owner, fileId)
        throw error
      })
      const { answer } = await readReply(reply)
      await store.removeFile(owner, fileId)
      return answer()
    }),
  ]
}

const notFound = (id: string) =>
  new GatewayError(
    'not_found',
    `file '${id}' does not exist, or this owner did not upload it through this gateway`,
  )

async function upload(served: Served, options: FilesOptions) {
  const { call } = served
  const path = join(options.directory(), Bun.randomUUIDv7())
  const boundary = `gateway-${Bun.randomUUIDv7()}`
  try {
    const form = await spoolForm(call.request, path, boundary, options.maxBytes + FORM_BYTES)
    return await sendOn(served, form, path, boundary, options)
  } finally {
    for (const file of [path, rewritten(path)]) await unlink(file).catch(() => {})
  }
}

const rewritten = (path: string) => `${path}.lines`

async function sendOn(
  served: Served,
  form: SpooledForm,
  spooled: string,
  boundary: string,
  { store, accounts, models, identity }: FilesOptions,
) {
  const { call, lease } = served
  const purpose = form.fields.find(([name]) => name === 'purpose')?.[1]
  if (purpose === undefined) throw invalid("purpose: is missing; set it to 'batch', 'user_data', …")
  const principal = mayBeRevoked(call)
    ? await identity().authenticate(presentedKey(call.header), call)
    : served.principal
  const account = accounts.choose(namedProvider(call, form), principal, lease)

  let lines: BatchLines | undefined
  let body = spooled
  if (purpose === 'batch') {
    body = rewritten(spooled)
    const { fileFrom, fileSize } = form
    const content = Bun.file(spooled).slice(fileFrom, fileFrom + fileSize)
    await copyStart(spooled, body, fileFrom)
    lines = await writeLines(content.stream(), body, (endpoint, model) =>
      models.resolve(principal, account.provider, endpoint, model),
    )
  }
  const fields = form.fields.filter(([name]) => name !== PROVIDER)
  await appendFile(body, formEnd(boundary, fields))
  if (lines?.models.length === 1) served.noted.model = lines.models[0] as BatchLines['models'][0]
  const reply = await served.send(account, {
    method: 'POST',
    path: 'files',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Bun.file(body),
  })
  const { object, answer } = await readReply(reply)
  await store.addFile(principal.ownershipScopeKey, {
    fileId: String(object.id),
    provider: account.provider,
    purpose,
    object,
    lines,
  })
  return answer()
}

/** Copies the beginning of the form, up to the content of its file. */
async function copyStart(from: string, to: string, size: number): Promise<void> {
  const source = await open(from)
  try {
    const { buffer } = await source.read(Buffer.alloc(size), 0, size, 0)
    await Bun.write(to, buffer)
  } finally {
    await source.close()
  }
}

function namedProvider(call: HttpCall, { fields }: SpooledForm): string | undefined {
  return (
    call.header(PROVIDER_HEADER) ??
    call.url().searchParams.get(PROVIDER) ??
    fields.find(([name]) => name === PROVIDER)?.[1]
  )
}

/** Reads the paging parameters of the OpenAI API. Throws `invalid_request`. */
export function readPage(query: URLSearchParams, most: number): Page {
  const limit = Number(query.get('limit') ?? Math.min(most, 10_000))
  if (!Number.isInteger(limit) || limit < 1) throw invalid('limit: must be an integer from 1')
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw invalid("order: must be 'asc' or 'desc'")
  return {
    after: query.get('after') ?? undefined,
    limit: Math.min(limit, most),
    descending: order === 'desc',
  }
}

/** `found` has one more element than the page if more exist. */
export function listOf(found: readonly JsonObject[], limit: number): JsonObject {
  const data = found.slice(0, limit)
  return {
    object: 'list',
    data: data as JsonObject[],
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
}
