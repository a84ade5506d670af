import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayError, Secret } from 'model-gateway/plugin'
import { type AwsCredentials, awsCredentials, cachedCredentials } from './aws-credentials.ts'

const MINUTE = 60_000

/** A cache over credentials that live an hour, or fail while `fails` says so. */
function cache() {
  const state = {
    now: 0,
    loads: 0,
    fails: undefined as Error | undefined,
    warnings: [] as string[],
    lifetime: 60 * MINUTE,
  }
  const source = cachedCredentials(
    async () => {
      state.loads++
      const { loads } = state
      await Bun.sleep(1)
      if (state.fails) throw state.fails
      return {
        accessKeyId: `AK${loads}`,
        secretAccessKey: 's',
        expiration: new Date(state.now + state.lifetime),
      }
    },
    { now: () => state.now, warn: (message) => state.warnings.push(message) },
  )
  return { state, source }
}

describe('a cache of credentials', () => {
  test('loads once for a hundred callers', async () => {
    const { state, source } = cache()
    const all = await Promise.all(Array.from({ length: 100 }, () => source.get()))
    expect(state.loads).toBe(1)
    expect(new Set(all).size).toBe(1)
  })

  test('replaces them once, five minutes before they expire, while the old ones are used', async () => {
    const { state, source } = cache()
    const first = await source.get()
    state.now = 55 * MINUTE - 1
    expect(source.get()).toBe(first)
    expect(state.loads).toBe(1)
    state.now = 55 * MINUTE
    for (let i = 0; i < 100; i++) expect(source.get()).toBe(first)
    await Bun.sleep(5)
    expect(state.loads).toBe(2)
    expect((await source.get()).accessKeyId).toBe('AK2')
  })

  test('reloads short-lived ones every ten seconds, not at each call', async () => {
    const { state, source } = cache()
    state.lifetime = 4 * MINUTE
    const first = await source.get()
    state.now = 9_999
    expect(source.get()).toBe(first)
    expect(state.loads).toBe(1)
    state.now = 10_000
    expect(source.get()).toBe(first)
    expect(state.loads).toBe(2)
  })

  test('waits for new ones when the old ones have expired', async () => {
    const { state, source } = cache()
    await source.get()
    state.now = 61 * MINUTE
    const all = await Promise.all(Array.from({ length: 100 }, () => source.get()))
    expect(new Set(all.map(({ accessKeyId }) => accessKeyId))).toEqual(new Set(['AK2']))
    expect(state.loads).toBe(2)
  })

  test('keeps credentials without an expiration', async () => {
    let loads = 0
    const load = async () => ({ accessKeyId: `AK${++loads}`, secretAccessKey: 's' })
    const source = cachedCredentials(load, { now: () => 2 ** 52, warn() {} })
    await source.get()
    await source.get()
    expect(loads).toBe(1)
  })

  test('uses the old ones when loading fails, and retries after a while', async () => {
    const { state, source } = cache()
    const first = await source.get()
    state.fails = new Error('metadata service away')
    state.now = 70 * MINUTE
    expect(await source.get()).toBe(first)
    expect(await source.get()).toBe(first)
    expect(state.loads).toBe(2)
    expect(state.warnings).toEqual(['AWS credentials could not be loaded: metadata service away'])
    state.fails = undefined
    state.now += 10_000
    expect((await source.get()).accessKeyId).toBe('AK3')
  })

  test('aborts a load that hangs, and retries', async () => {
    const warnings: string[] = []
    let loads = 0
    const load = () =>
      ++loads === 1
        ? new Promise<AwsCredentials>(() => {})
        : Promise.resolve({ accessKeyId: `AK${loads}`, secretAccessKey: 's' })
    const options = { now: () => 0, warn: (message: string) => warnings.push(message) }
    const source = cachedCredentials(load, options, 20)
    const error = await Promise.resolve(source.get()).catch((reason) => reason)
    expect(error).toMatchObject({ status: 502 })
    expect(warnings).toEqual(['AWS credentials could not be loaded: no credentials within 20 ms'])
    expect((await source.get()).accessKeyId).toBe('AK2')
  }, 2_000)

  test('drops refused ones, but not their successors', async () => {
    const { state, source } = cache()
    const first = await source.get()
    source.refused(first)
    const second = await source.get()
    expect(second.accessKeyId).toBe('AK2')
    source.refused(first)
    expect(source.get()).toBe(second)
    expect(state.loads).toBe(2)
  })

  test('without credentials the error is 502, without secrets for caller or log', async () => {
    const { state, source } = cache()
    state.fails = new Error('Command failed: /bin/issue --token=hunter2\nhunter2 is wrong')
    const error = await Promise.resolve(source.get()).catch((reason) => reason)
    expect(error).toBeInstanceOf(GatewayError)
    expect(error.status).toBe(502)
    expect(error.message).toBe(
      'the gateway could not load credentials for the provider; see its log',
    )
    expect(state.warnings).toEqual([
      'AWS credentials could not be loaded: the credential_process failed',
    ])
  })
})

test('static credentials come from the config', () => {
  const auth = {
    mode: 'static' as const,
    access_key_id: new Secret('AK'),
    secret_access_key: new Secret('SK'),
    session_token: new Secret('ST'),
  }
  const source = awsCredentials(auth, { region: 'r', now: Date.now, warn() {} })
  expect(source.get()).toEqual({ accessKeyId: 'AK', secretAccessKey: 'SK', sessionToken: 'ST' })
})

describe('the default chain', () => {
  const before = { ...process.env }
  const folder = mkdtempSync(join(tmpdir(), 'aws-'))
  const requests: { path: string; headers: Headers; body: string }[] = []
  let expiration = new Date(Date.now() + 3_600_000)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push({ path: pathname, headers: request.headers, body: await request.text() })
      const credentials = {
        AccessKeyId: 'AKREMOTE',
        SecretAccessKey: 'SK',
        Token: 'ST',
        Expiration: expiration.toISOString(),
      }
      if (pathname === '/latest/api/token') return new Response('imds-token')
      if (pathname === '/latest/meta-data/iam/security-credentials/') return new Response('role')
      if (pathname.startsWith('/latest/')) return Response.json({ Code: 'Success', ...credentials })
      if (pathname === '/container') return Response.json(credentials)
      return new Response(
        `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKREMOTE</AccessKeyId><SecretAccessKey>SK</SecretAccessKey><SessionToken>ST</SessionToken><Expiration>${expiration.toISOString()}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
        { headers: { 'content-type': 'text/xml' } },
      )
    },
  })
  afterAll(() => {
    server.stop(true)
    rmSync(folder, { recursive: true })
  })

  beforeEach(() => {
    for (const name of Object.keys(process.env))
      if (name.startsWith('AWS_')) delete process.env[name]
    process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder, 'credentials')
    process.env.AWS_CONFIG_FILE = join(folder, 'config')
    process.env.AWS_EC2_METADATA_DISABLED = 'true'
    requests.length = 0
    expiration = new Date(Date.now() + 3_600_000)
  })
  afterEach(() => {
    for (const name of Object.keys(process.env))
      if (name.startsWith('AWS_')) delete process.env[name]
    for (const [name, value] of Object.entries(before)) {
      if (name.startsWith('AWS_')) process.env[name] = value
    }
  })

  const warnings: string[] = []
  function chain(now = Date.now): Promise<AwsCredentials> {
    warnings.length = 0
    const options = { region: 'eu-west-1', now, warn: (m: string) => warnings.push(m) }
    return Promise.resolve(awsCredentials({ mode: 'default_chain' }, options).get())
  }
  const remote = { accessKeyId: 'AKREMOTE', secretAccessKey: 'SK', sessionToken: 'ST' }

  test('uses the environment first', async () => {
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'AKENV',
      AWS_SECRET_ACCESS_KEY: 'SK',
      AWS_SESSION_TOKEN: 'ST',
    })
    expect(await chain()).toMatchObject({
      accessKeyId: 'AKENV',
      secretAccessKey: 'SK',
      sessionToken: 'ST',
    })
  })

  test('uses shared files, by profile', async () => {
    writeFileSync(
      join(folder, 'credentials'),
      '[work]\naws_access_key_id = AKFILE\naws_secret_access_key = SK\n',
    )
    process.env.AWS_PROFILE = 'work'
    expect(await chain()).toMatchObject({ accessKeyId: 'AKFILE', secretAccessKey: 'SK' })
    rmSync(join(folder, 'credentials'))
  })

  test('exchanges a web identity token, in the region of the provider', async () => {
    const file = join(folder, 'token')
    writeFileSync(file, 'oidc-token')
    Object.assign(process.env, {
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/gateway',
      AWS_ROLE_SESSION_NAME: 'gateway',
      AWS_ENDPOINT_URL_STS: server.url.origin,
    })
    expect(await chain()).toMatchObject(remote)
    const form = new URLSearchParams(requests[0]?.body)
    expect(form.get('Action')).toBe('AssumeRoleWithWebIdentity')
    expect(form.get('WebIdentityToken')).toBe('oidc-token')
  })

  test('asks the container', async () => {
    Object.assign(process.env, {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url.origin}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'container-token',
    })
    expect(await chain()).toMatchObject(remote)
    expect(requests.map(({ path, headers }) => [path, headers.get('authorization')])).toEqual([
      ['/container', 'container-token'],
    ])
  })

  test('asks the instance, with a session token', async () => {
    process.env.AWS_EC2_METADATA_DISABLED = 'false'
    process.env.AWS_EC2_METADATA_SERVICE_ENDPOINT = server.url.origin
    expect(await chain()).toMatchObject(remote)
    expect(requests.map(({ path }) => path)).toEqual([
      '/latest/api/token',
      '/latest/meta-data/iam/security-credentials/',
      '/latest/meta-data/iam/security-credentials/role',
    ])
    expect(requests[1]?.headers.get('x-aws-ec2-metadata-token')).toBe('imds-token')
  })

  test('without credentials the error is 502', async () => {
    const error = await chain().catch((reason) => reason)
    expect(error).toMatchObject({ code: 'upstream_transport', status: 502 })
    expect(warnings).toHaveLength(1)
  })
})
