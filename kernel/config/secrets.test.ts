import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../plugin/index.ts'
import { resolveSecret } from './secrets.ts'

const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
const file = join(folder, 'secret')
afterAll(() => rmSync(folder, { recursive: true }))

function resolved(reference: string, env: Record<string, string> = {}): Secret {
  const result = resolveSecret(reference, env)
  if (result instanceof Secret) return result
  throw new Error(result.message)
}

test('re-reads the secret of a file; the loaded value stays', async () => {
  writeFileSync(file, 'first\n')
  const secret = resolved(`file.${file}`)
  writeFileSync(file, 'second\r\n')
  expect(await secret.revealCurrent()).toBe('second')
  expect(secret.reveal()).toBe('first')
})

test('reports a file that became unreadable, without its content', async () => {
  writeFileSync(file, 'first')
  const secret = resolved(`file.${file}`)
  writeFileSync(file, '\n')
  expect(secret.revealCurrent()).rejects.toThrow(`secret file ${file} is empty`)
  rmSync(file)
  await expect(secret.revealCurrent()).rejects.toThrow(
    `secret file ${file} cannot be read (ENOENT)`,
  )
})

test('secrets of the environment and literal secrets do not change', async () => {
  const env = { TOKEN: 'before' }
  const secret = resolved('env.TOKEN', env)
  env.TOKEN = 'after'
  expect(await secret.revealCurrent()).toBe('before')
  expect(await resolved('literal.x').revealCurrent()).toBe('x')
})

test('strips only the final line end of a secret file', () => {
  writeFileSync(file, 'first\nsecond\n\n')
  expect(resolved(`file.${file}`).reveal()).toBe('first\nsecond\n')
})

test('an empty secret is none', () => {
  writeFileSync(file, '\n')
  expect(() => resolved(`file.${file}`)).toThrow(`secret file ${file} is empty`)
  expect(() => resolved('env.TOKEN', { TOKEN: '' })).toThrow('TOKEN is not set')
})
