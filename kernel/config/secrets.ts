import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Secret } from '../plugin/index.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface SecretFault {
  readonly message: string
  readonly hint: string
}

const HOW = 'write env.NAME, file./absolute/path or literal.VALUE'

/** Resolves a secret reference. Problems never repeat the value, because it may be a secret. */
export function resolveSecret(reference: unknown, env: Environment): Secret | SecretFault {
  if (typeof reference !== 'string') return { message: 'must be a secret reference', hint: HOW }
  if (reference.startsWith('env.')) {
    const name = reference.slice(4)
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      return { message: 'does not name an environment variable after env.', hint: HOW }
    }
    const value = env[name]
    return value === undefined || value === ''
      ? { message: `environment variable ${name} is not set`, hint: `set ${name} before the start` }
      : new Secret(value)
  }
  if (reference.startsWith('file.')) {
    const path = reference.slice(5)
    if (!path.startsWith('/')) {
      return {
        message: 'must have an absolute path after file.',
        hint: 'write file./absolute/path',
      }
    }
    try {
      const value = withoutNewline(readFileSync(path, 'utf8'))
      if (value !== '') return new Secret(value, () => readAgain(path))
      return { message: empty(path), hint: 'write the secret into it' }
    } catch (error) {
      return {
        message: unreadable(path, error),
        hint: 'check that it exists and that the gateway may read it',
      }
    }
  }
  if (reference.startsWith('literal.') && reference.length > 8)
    return new Secret(reference.slice(8))
  return { message: 'is not a secret reference', hint: HOW }
}

async function readAgain(path: string): Promise<string> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new Error(unreadable(path, error))
  }
  const value = withoutNewline(text)
  if (value === '') throw new Error(empty(path))
  return value
}

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '')
}

function empty(path: string): string {
  return `secret file ${path} is empty`
}

function unreadable(path: string, error: unknown): string {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
  return `secret file ${path} cannot be read (${reason})`
}
