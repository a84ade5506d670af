import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judge, secret } from '../_shared/testing.ts'
import * as replies from './__fixtures__/replies.ts'
import { createGuardrail } from './check.ts'
import type { Config } from './config.ts'
import { startGuardrailService } from './testing.ts'

const service = startGuardrailService()
const folder = mkdtempSync(join(tmpdir(), 'guardrail-'))
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  service.answer = () => Response.json(replies.passed)
})

const warnings: string[] = []

function check(auth?: NonNullable<Config['auth']>) {
  const config: Config = {
    region: 'eu-west-1',
    guardrail_identifier: 'gr1abc23def4',
    guardrail_version: 7,
    endpoint_url: service.url,
    max_retries: 0,
    ...(auth === undefined ? {} : { auth }),
  }
  return createGuardrail(config, { now: () => new Date(), warn: (text) => warnings.push(text) })
}

describe('static credentials', () => {
  const files = { id: join(folder, 'id'), key: join(folder, 'key') }
  const write = (id: string, key: string) => {
    writeFileSync(files.id, `${id}\n`)
    writeFileSync(files.key, `${key}\n`)
  }

  test('in files are read again for each evaluation', async () => {
    service.keys = { AKONE: { secretAccessKey: 'one' }, AKTWO: { secretAccessKey: 'two' } }
    write('AKONE', 'one')
    const rotating = check({
      kind: 'static',
      access_key_id: secret(`file.${files.id}`),
      secret_access_key: secret(`file.${files.key}`),
    })
    const before = service.callers.length
    expect(await judge(rotating, 'text')).toEqual({ action: 'allow' })
    write('AKTWO', 'two')
    expect(await judge(rotating, 'text')).toEqual({ action: 'allow' })
    expect(service.callers.slice(before)).toEqual(['AKONE', 'AKTWO'])

    rmSync(files.key)
    expect(await judge(rotating, 'text')).toBe('managed.access_denied')
    write('AKONE', 'one')
    expect(await judge(rotating, 'text')).toEqual({ action: 'allow' })
  })

  test('in the environment stay as they were', async () => {
    service.keys = { AKENV: { secretAccessKey: 'before' } }
    process.env.CHECK_TEST_SECRET = 'before'
    const fixed = check({
      kind: 'static',
      access_key_id: secret('literal.AKENV'),
      secret_access_key: secret('env.CHECK_TEST_SECRET'),
    })
    process.env.CHECK_TEST_SECRET = 'after'
    expect(await judge(fixed, 'text')).toEqual({ action: 'allow' })
    delete process.env.CHECK_TEST_SECRET
    expect(await judge(fixed, 'text')).toEqual({ action: 'allow' })
  })

  test('that are wrong are refused', async () => {
    service.keys = { AKIDEXAMPLE: { secretAccessKey: 'another' } }
    const auth = {
      kind: 'static',
      access_key_id: secret('literal.AKIDEXAMPLE'),
      secret_access_key: secret('literal.one'),
    } as const
    expect(await judge(check(auth), 'text')).toBe('managed.access_denied')
  })
})

describe('the default chain', () => {
  const before = { ...process.env }
  const clear = () => {
    for (const name of Object.keys(process.env)) {
      if (name.startsWith('AWS_')) delete process.env[name]
    }
  }
  beforeEach(() => {
    clear()
    process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder, 'none')
    process.env.AWS_CONFIG_FILE = join(folder, 'none')
    process.env.AWS_EC2_METADATA_DISABLED = 'true'
  })
  afterEach(() => {
    clear()
    for (const [name, value] of Object.entries(before)) {
      if (name.startsWith('AWS_')) process.env[name] = value
    }
  })

  const environment = (id: string, key: string) =>
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key })

  test.each([{ kind: 'default_chain' } as const, undefined])('signs: %j', async (auth) => {
    service.keys = { AKCHAIN: { secretAccessKey: 'chain' } }
    environment('AKCHAIN', 'chain')
    expect(await judge(check(auth), 'text')).toEqual({ action: 'allow' })
    expect(service.callers.at(-1)).toBe('AKCHAIN')
  })

  test('is asked again when the service refused what it gave', async () => {
    service.keys = { AKNEW: { secretAccessKey: 'new' } }
    environment('AKOLD', 'old')
    const chained = check()
    expect(await judge(chained, 'text')).toBe('managed.access_denied')
    environment('AKNEW', 'new')
    expect(await judge(chained, 'text')).toEqual({ action: 'allow' })
  })

  test('is left alone when who is known may not', async () => {
    service.keys = { AKONE: { secretAccessKey: 'one' }, AKTWO: { secretAccessKey: 'two' } }
    service.answer = () => {
      const headers = { 'x-amzn-errortype': 'AccessDeniedException' }
      return Response.json({ message: 'no' }, { status: 403, headers })
    }
    environment('AKONE', 'one')
    const chained = check()
    expect(await judge(chained, 'text')).toBe('managed.access_denied')
    environment('AKTWO', 'two')
    expect(await judge(chained, 'text')).toBe('managed.access_denied')
    expect(service.callers.at(-1)).toBe('AKONE')
  })

  test('without anything is a failure that the log explains', async () => {
    warnings.length = 0
    const empty = check({ kind: 'default_chain' })
    expect(await judge(empty, 'text')).toBe('managed.access_denied')
    expect(warnings).toHaveLength(1)
  })
})
