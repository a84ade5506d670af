import postgres from 'postgres'
import { type JsonSchema, schemaProblems } from './json-schema.ts'

/** An answer of the control plane, which has been compared with the gateway's OpenAPI document. */
export interface AdminReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** How long it took until its last byte was there, in milliseconds. */
  readonly ms: number
  /** Of a JSON success. */
  readonly data: unknown
  /** Of a failure. */
  readonly error: { readonly code: string; readonly message: string } | undefined
}

/** Somebody at the control plane; a path may have a query. Every reply is checked. */
export interface AdminClient {
  readonly email: string
  readonly userId: string
  /** Any call, whatever comes of it. Headers go before those that the client sends by itself. */
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<AdminReply>
  /** The `data` of a success, or the text of one that is not JSON; throws for anything else. */
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: unknown): Promise<T>
  put<T>(path: string, body: unknown): Promise<T>
  patch<T>(path: string, body: unknown): Promise<T>
  delete<T>(path: string): Promise<T>
  /** Status and code of a failure and its message; throws for a success. */
  refused(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<readonly [status: number, code: string, message: string]>
}

export interface AdminClientOptions {
  /** Default `root@example.com`. */
  readonly email?: string
  /** Default `platform_admin`. */
  readonly role?: 'platform_admin' | 'user'
}

export const adminPassword = 'correct horse battery'

/**
 * Signs in as the user with this e-mail, who is created with a password if missing. The gateway
 * may run in this process or in another one, and may have several clients.
 */
export async function adminClient(
  gateway: { readonly url: string; readonly databaseUrl: string },
  options: AdminClientOptions = {},
): Promise<AdminClient> {
  const { email = 'root@example.com', role = 'platform_admin' } = options
  await makeUser(gateway.databaseUrl, email, role)
  return await signIn(gateway.url, email, adminPassword)
}

/** Signs in as a user who has a password already. */
export async function signIn(url: string, email: string, password: string): Promise<AdminClient> {
  const request = await createCaller(url, {})
  const login = await request('POST', '/api/v1/auth/login', { email, password })
  if (login.status !== 200) throw new Error(`${email} cannot sign in: ${login.text}`)
  const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const { user } = login.data as { user: { user_id: string } }
  const signedIn = await createCaller(url, { cookie })
  return { email, userId: user.user_id, ...methodsOf(signedIn) }
}

/** A client without a session: with an API key, or without any credentials. */
export async function keyClient(
  url: string,
  key?: string,
): Promise<Omit<AdminClient, 'email' | 'userId'>> {
  return methodsOf(
    await createCaller(url, key === undefined ? {} : { authorization: `Bearer ${key}` }),
  )
}

function methodsOf(request: AdminClient['request']): Omit<AdminClient, 'email' | 'userId'> {
  async function success<T>(method: string, path: string, body?: unknown): Promise<T> {
    const reply = await request(method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return (reply.data ?? reply.text) as T
  }
  return {
    request,
    get: (path) => success('GET', path),
    post: (path, body) => success('POST', path, body),
    put: (path, body) => success('PUT', path, body),
    patch: (path, body) => success('PATCH', path, body),
    delete: (path) => success('DELETE', path),
    async refused(method, path, body) {
      const { status, error, text } = await request(method, path, body)
      if (error === undefined)
        throw new Error(`${method} ${path} was not refused: ${status} ${text}`)
      return [status, error.code, error.message]
    },
  }
}

async function createCaller(
  url: string,
  who: Readonly<Record<string, string>>,
): Promise<AdminClient['request']> {
  const documented = await readDocument(url)
  return async function request(method, path, body, headers = {}) {
    const sentAt = performance.now()
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...who,
        ...(method !== 'GET' && { origin: new URL(url).origin }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const ms = performance.now() - sentAt
    const { status } = response
    const type = response.headers.get('content-type')?.split(';', 1)[0] ?? ''
    const json = type === 'application/json' ? JSON.parse(text) : undefined
    const problems = documented(method, path, status, type, json ?? text)
    if (problems.length > 0) {
      throw new Error(
        `${method} ${path} answers ${status} ${text.slice(0, 500)}, which is not as documented:\n${problems.join('\n')}`,
      )
    }
    return {
      status,
      headers: response.headers,
      text,
      ms,
      data: json?.data,
      error: status >= 400 ? json?.error : undefined,
    }
  }
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly security: readonly Record<string, unknown>[]
  readonly parameters: readonly {
    name: string
    in: string
    required?: boolean
    schema: JsonSchema
  }[]
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string
        readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
      }
    >
  >
}

/** Every operation of the gateway's OpenAPI document. */
export async function readOperations(url: string): Promise<readonly Operation[]> {
  const response = await fetch(`${url}/docs/json`)
  const text = await response.text()
  const { components } = JSON.parse(text) as { components: { schemas: Record<string, JsonSchema> } }
  const document = JSON.parse(text, (_, part) => {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(part?.$ref ?? '')?.[1]
    return name === undefined ? part : components.schemas[name]
  }) as { paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>> }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      parameters: operation.parameters ?? [],
      method: method.toUpperCase(),
      path,
    })),
  )
}

/** Says what of an answer is not as the gateway's document has it. */
async function readDocument(url: string) {
  const operations = (await readOperations(url)).map((operation) => ({
    operation,
    pattern: new RegExp(
      `^${operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`,
    ),
  }))
  // A path that is spelled out goes before one with a parameter in its place.
  const spelledOut = ({ operation }: (typeof operations)[number]) =>
    operation.path.indexOf('{') >>> 0
  operations.sort((a, b) => spelledOut(b) - spelledOut(a))
  return (
    method: string,
    target: string,
    status: number,
    type: string,
    body: unknown,
  ): string[] => {
    const path = target.split('?', 1)[0] as string
    const found = operations.find(
      ({ operation, pattern }) => operation.method === method && pattern.test(path),
    )
    if (found === undefined)
      return status === 404 ? [] : ['the OpenAPI document does not have this operation']
    const response = found.operation.responses[status]
    if (response === undefined) return [`the status ${status} is not documented`]
    if (response.content === undefined) return body === '' ? [] : ['there should be no body']
    const content = response.content[type]
    if (content === undefined) return [`the content type ${type} is not documented`]
    const problems = schemaProblems(content.schema, body)
    const { error } = body as { error?: { code: string } }
    if (error !== undefined && !response.description.split(', ').includes(error.code)) {
      problems.push(`the code ${error.code} is not documented`)
    }
    return problems
  }
}

async function makeUser(databaseUrl: string, email: string, role: string): Promise<void> {
  // A quick hash, which is as good for a test; the gateway reads its cost from it.
  const hash = await Bun.password.hash(adminPassword, {
    algorithm: 'argon2id',
    memoryCost: 8,
    timeCost: 1,
  })
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    await sql.begin(async (tx) => {
      const [user] = await tx`
        insert into identity.users (id, name, email, role)
        values (${Bun.randomUUIDv7()}, ${email.split('@')[0] as string}, ${email}, ${role})
        on conflict (email) do update set role = excluded.role returning id`
      await tx`
        insert into identity.user_passwords (user_id, hash) values (${user?.id}, ${hash})
        on conflict (user_id) do nothing`
    })
  } finally {
    await sql.end({ timeout: 5 })
  }
}
