import { afterAll, afterEach, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { ConfigError, GatewayError, Secret } from 'model-gateway/plugin'
import { startGoogleCloud } from '../../test/harness/upstream-clouds-google.ts'
import { googleCredentials } from './google-auth.ts'
import { findDefaultFile, readCredentials } from './google-auth-file.ts'

const START = Date.parse('2026-09-24T08:00:00Z')
const CANARIES = ['refresh-canary', 'client-secret-canary', 'PRIVATE KEY', 'ya29.']
const cloud = startGoogleCloud()
afterAll(() => cloud.stop())
beforeEach(() => {
  cloud.clear()
  setSystemTime(START)
})
afterEach(() => {
  setSystemTime()
})

type Auth = Parameters<typeof googleCredentials>[0]
type Env = Record<string, string>

function source(auth: Auth, { env = {}, audience }: { env?: Env; audience?: string } = {}) {
  const warnings: string[] = []
  const headers = googleCredentials(auth, 'authorization', {
    env,
    now: () => Date.now(),
    warn: (message) => warnings.push(message),
    ...(audience === undefined ? {} : { audience }),
  })
  return {
    ...headers,
    warnings,
    /** Whether the API takes what comes. */
    async works(): Promise<boolean> {
      const reply = await fetch(`${cloud.url}/v1/x`, {
        method: 'POST',
        headers: await headers.credentials(),
        body: '{}',
      })
      return reply.ok
    },
  }
}
const serviceAccount = (): Auth => ({
  mode: 'service_account',
  credentials_file: cloud.serviceAccountFile(),
})
const nowhere = () => ({ CLOUDSDK_CONFIG: join(cloud.folder, 'none') })
const onGoogle = () => ({ ...nowhere(), GCE_METADATA_HOST: cloud.host })
const after = (seconds: number) => setSystemTime(START + seconds * 1000)

describe('tokens that the API accepts', () => {
  test.each([
    ['service_account, access token', () => source(serviceAccount()), 'service_account'],
    [
      'service_account, ID token',
      () => source(serviceAccount(), { audience: cloud.url }),
      'service_account',
    ],
    [
      'adc, a file of a service account',
      () =>
        source(
          { mode: 'adc' },
          { env: { GOOGLE_APPLICATION_CREDENTIALS: cloud.serviceAccountFile() } },
        ),
      'service_account',
    ],
    [
      'adc, a file of a user',
      () =>
        source(
          { mode: 'adc' },
          { env: { GOOGLE_APPLICATION_CREDENTIALS: cloud.authorizedUserFile() } },
        ),
      'authorized_user',
    ],
    ['adc, metadata', () => source({ mode: 'adc' }, { env: onGoogle() }), 'metadata'],
    [
      'adc, metadata by its address',
      () => source({ mode: 'adc' }, { env: { ...nowhere(), GCE_METADATA_IP: cloud.host } }),
      'metadata',
    ],
    [
      'adc, metadata, ID token',
      () => source({ mode: 'adc' }, { env: onGoogle(), audience: cloud.url }),
      'metadata',
    ],
    ['no auth at all is adc', () => source(undefined, { env: onGoogle() }), 'metadata'],
  ])('%s', async (_, make, from) => {
    expect(await make().works()).toBe(true)
    expect(cloud.issued).toEqual([from])
  })

  test('bearer: the token unchanged, even if refused', async () => {
    const { credentials, refused } = source({ mode: 'bearer', token: new Secret('static') })
    expect(await credentials()).toEqual({ authorization: 'Bearer static' })
    refused({ authorization: 'Bearer static' })
    expect(await credentials()).toEqual({ authorization: 'Bearer static' })
  })

  test('an ID token for another audience is refused', async () => {
    expect(await source(serviceAccount(), { audience: 'https://other.run.app' }).works()).toBe(
      false,
    )
  })
})

describe('the file of application default credentials', () => {
  test('the variable precedes the well-known files, CLOUDSDK_CONFIG the home directory', () => {
    const [sdk, home] = ['sdk', 'home'].map((name) => join(cloud.folder, name)) as [string, string]
    const name = 'application_default_credentials.json'
    const homeFile = join(home, '.config', 'gcloud', name)
    for (const path of [join(sdk, name), homeFile]) {
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, '{}')
    }
    const all = { GOOGLE_APPLICATION_CREDENTIALS: '/x/y.json', CLOUDSDK_CONFIG: sdk, HOME: home }
    expect(findDefaultFile(all)).toBe('/x/y.json')
    expect(findDefaultFile({ CLOUDSDK_CONFIG: sdk, HOME: home })).toBe(join(sdk, name))
    expect(findDefaultFile({ HOME: home })).toBe(homeFile)
    expect(findDefaultFile({ CLOUDSDK_CONFIG: home, HOME: home })).toBeUndefined()
  })

  test('a missing named file is an error, without a fallback', async () => {
    const env = { ...onGoogle(), GOOGLE_APPLICATION_CREDENTIALS: '/missing.json' }
    const error = await failure(source({ mode: 'adc' }, { env }))
    expect(error.message).toBe('Google credentials: the file /missing.json cannot be read (ENOENT)')
    expect(cloud.issued).toEqual([])
  })
})

describe('unusable files', () => {
  const account = () => JSON.parse(readText(cloud.serviceAccountFile())) as object
  test.each([
    ['text', () => 'PRIVATE KEY', 'is not a JSON object'],
    ['another type', () => '{"type":"external_account"}', '"external_account" are not supported'],
    ['no e-mail', () => JSON.stringify({ ...account(), client_email: '' }), 'no client_email'],
    ['no key', () => JSON.stringify({ ...account(), private_key: 'PRIVATE KEY' }), 'key in PEM'],
    ['no endpoint', () => JSON.stringify({ ...account(), token_uri: 'ftp://x' }), 'not a URL'],
    ['a user', () => readText(cloud.authorizedUserFile()), 'not a service account'],
  ])('as credentials_file: %s', (_, content, message) => {
    const auth: Auth = { mode: 'service_account', credentials_file: cloud.file(content()) }
    const error = caught(() => source(auth))
    expect(error).toBeInstanceOf(ConfigError)
    const { problems } = error as ConfigError
    expect(problems.map(({ path }) => path)).toEqual([['auth', 'credentials_file']])
    expect(problems[0]?.message).toContain(message)
    expect(inspect(error)).not.toContain('BEGIN PRIVATE KEY')
  })

  test('a user cannot make ID tokens', async () => {
    const env = { GOOGLE_APPLICATION_CREDENTIALS: cloud.authorizedUserFile() }
    const error = await failure(source({ mode: 'adc' }, { env, audience: cloud.url }))
    expect(error.message).toContain('ID tokens need a service account')
    expect(cloud.issued).toEqual([])
  })

  test('inspecting the credentials shows no secret', () => {
    for (const path of [cloud.serviceAccountFile(), cloud.authorizedUserFile()]) {
      const shown = inspect(readCredentials(path), { depth: 10, showHidden: true })
      for (const canary of CANARIES) expect(shown).not.toContain(canary)
    }
  })
})

describe('refresh', () => {
  test('one fetch for a hundred callers, at the start and near the end', async () => {
    const tokens = source(serviceAccount())
    await Promise.all(Array.from({ length: 100 }, () => tokens.credentials()))
    expect(cloud.issued).toHaveLength(1)
    after(3599 - 301)
    expect(tokens.credentials()).not.toBeInstanceOf(Promise)
    expect(cloud.issued).toHaveLength(1)

    after(3599 - 300)
    const before = await tokens.credentials()
    for (let i = 0; i < 100; i++) expect(tokens.credentials()).toEqual(before)
    await until(() => cloud.issued.length === 2)
    await until(async () => (await tokens.credentials()).authorization !== before.authorization)
    expect(cloud.issued).toHaveLength(2)
    expect(await tokens.works()).toBe(true)
  })

  test.each([
    [599, 538, 540],
    [null, 3299, 3301],
    [5, 9, 11],
  ])('a token of %p s is replaced between %i s and %i s', async (lifetime, not, then) => {
    cloud.lifetime = lifetime
    const tokens = source({ mode: 'adc' }, { env: onGoogle() })
    await tokens.credentials()
    after(not)
    await tokens.credentials()
    await Bun.sleep(5)
    expect(cloud.issued).toHaveLength(1)
    after(then)
    await tokens.credentials()
    await until(() => cloud.issued.length === 2)
  })

  test('an ID token expires at its exp', async () => {
    cloud.lifetime = 1800
    const tokens = source(serviceAccount(), { audience: cloud.url })
    await tokens.credentials()
    after(1801)
    expect(tokens.credentials()).toBeInstanceOf(Promise)
    expect(await tokens.works()).toBe(true)
    expect(cloud.issued).toHaveLength(2)
  })

  test('the old token is used while valid, without further requests', async () => {
    const tokens = source(serviceAccount())
    const old = await tokens.credentials()
    let asked = 0
    cloud.fault = () => {
      asked++
      return new Response('broken', { status: 503 })
    }
    after(3400)
    expect(await tokens.credentials()).toEqual(old)
    await until(() => tokens.warnings.length === 1)
    for (let i = 0; i < 20; i++) {
      expect(await tokens.credentials()).toEqual(old)
      await Bun.sleep(1)
    }
    expect(asked).toBe(1)
    after(3411)
    expect(await tokens.credentials()).toEqual(old)
    await until(() => asked === 2)

    after(3600)
    expect((await failure(tokens)).message).toBe(
      'Google credentials: the token endpoint answered with status 503',
    )
    cloud.fault = undefined
    expect(await tokens.works()).toBe(true)
  })

  test('a refused token is dropped, unless it was already replaced', async () => {
    const tokens = source(serviceAccount())
    const first = await tokens.credentials()
    tokens.refused(first)
    const second = await tokens.credentials()
    expect(second).not.toEqual(first)
    tokens.refused(first)
    expect(await tokens.credentials()).toEqual(second)
    expect(cloud.issued).toHaveLength(2)
  })

  test('a file that is replaced is read again', async () => {
    const path = cloud.serviceAccountFile({ forged: true })
    const tokens = source({ mode: 'service_account', credentials_file: path })
    expect((await failure(tokens)).message).toContain('invalid_grant, Invalid JWT Signature.')
    writeFileSync(path, readText(cloud.serviceAccountFile()))
    expect(await tokens.works()).toBe(true)
  })
})

describe('failures are 502 for operators, without secrets', () => {
  test.each([
    ['not JSON', () => new Response('<html>refresh-canary</html>'), 'did not answer with a JSON'],
    ['no token', () => Response.json({ token_type: 'Bearer' }), 'has no access_token'],
    [
      'a redirect',
      () => new Response('', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
      'answered with status 302',
    ],
    [
      'an echo',
      () => Response.json({ error: 'x', error_description: 'bad refresh-canary' }, { status: 400 }),
      'x, bad [redacted]',
    ],
    ['no end', () => new Response(endless()), 'answered with more than 1048576 bytes'],
  ])('%s', async (_, answer, message) => {
    const env = { GOOGLE_APPLICATION_CREDENTIALS: cloud.authorizedUserFile() }
    cloud.fault = answer
    const tokens = source({ mode: 'adc' }, { env })
    const error = await failure(tokens)
    expect(error.message).toContain(message)
    expect(tokens.warnings).toEqual([error.message])
    for (const canary of CANARIES) expect(inspect(error)).not.toContain(canary)
  })

  test.each(['not-a-jwt', 'a.b.c', `a.${Buffer.from('{}').toString('base64url')}.c`])(
    'an ID token that says no expiry: %s',
    async (token) => {
      cloud.fault = () => new Response(token)
      const error = await failure(source(undefined, { env: onGoogle(), audience: cloud.url }))
      expect(error.message).toBe('Google credentials: the response has no ID token')
    },
  )

  test('an unreachable metadata server', async () => {
    const env = { ...nowhere(), GCE_METADATA_HOST: '127.0.0.1:1' }
    const error = await failure(source({ mode: 'adc' }, { env }))
    expect(error.message).toBe('Google credentials: the metadata server could not be reached')
  })

  test('a metadata server that hangs times out after three seconds', async () => {
    cloud.fault = () => new Promise(() => {})
    const error = await failure(source({ mode: 'adc' }, { env: onGoogle() }))
    expect(error.message).toContain('did not answer within 3000 ms')
  })
})

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65_536)) })
}

async function failure(tokens: ReturnType<typeof source>): Promise<GatewayError> {
  const error = await Promise.resolve(tokens.credentials()).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof GatewayError)) throw new Error('no GatewayError')
  expect([error.code, error.status]).toEqual(['upstream_transport', 502])
  return error
}

function caught(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

function readText(path: string): string {
  return readFileSync(path, 'utf8')
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await holds()) return
    await Bun.sleep(2)
  }
  throw new Error('it never came true')
}
