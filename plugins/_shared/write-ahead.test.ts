import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { openSpool } from './spool.ts'
import { createWriteAhead, type HeldFile } from './write-ahead.ts'

const root = mkdtempSync(join(tmpdir(), 'write-ahead-'))
const log = pino({ level: 'silent' })
afterAll(() => rmSync(root, { recursive: true, force: true }))

const folder = () => mkdtempSync(join(root, 'f'))
const bytesIn = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)

/** What the next process finds. */
async function adopted(directory: string): Promise<string[]> {
  const spool = openSpool({ directory, name: 'calls', log })
  const all: string[] = []
  await spool.replay(async (records) => {
    all.push(...records)
  })
  await spool.close()
  return all
}

test('unreleased records are found by the next process, not earlier', async () => {
  const directory = folder()
  const ahead = createWriteAhead(directory, 'calls')
  const first = await ahead.add('first')
  await ahead.add('second')
  expect(await adopted(directory)).toEqual([])
  ahead.release(first)
  await ahead.close()
  expect(await adopted(directory)).toEqual(['first', 'second'])
  expect(readdirSync(directory)).toEqual([])
})

test('records that are written together are released together', async () => {
  const directory = folder()
  const ahead = createWriteAhead(directory, 'calls')
  const [file] = await Promise.all(['first', 'second', 'third'].map((record) => ahead.add(record)))
  ahead.release(file as HeldFile)
  ahead.release(file as HeldFile)
  await ahead.close()
  expect(await adopted(directory)).toEqual(['first', 'second', 'third'])
})

test('a killed process leaves its records', async () => {
  const directory = folder()
  const code = `
    import { createWriteAhead } from ${JSON.stringify(join(import.meta.dir, 'write-ahead.ts'))}
    const ahead = createWriteAhead(${JSON.stringify(directory)}, 'calls')
    ahead.release(await ahead.add('released'))
    for (let n = 0; n < 3; n++) await ahead.add('call ' + n)
    process.kill(process.pid, 'SIGKILL')`
  await Bun.spawn([process.execPath, '-e', code]).exited
  expect(await adopted(directory)).toEqual(['call 0', 'call 1', 'call 2'])
})

test('a record larger than the buffer is written completely, and so are later ones', async () => {
  const directory = folder()
  const ahead = createWriteAhead(directory, 'calls')
  const records = ['first', 'é'.repeat(100_000), 'x', 'last']
  for (const record of records) await ahead.add(record)
  await ahead.close()
  expect(await adopted(directory)).toEqual(records)
})

test('files are emptied as records are released, even if some always exist', async () => {
  const directory = folder()
  const ahead = createWriteAhead(directory, 'calls')
  const waiting: HeldFile[] = []
  for (let n = 0; n < 6_000; n++) {
    waiting.push(await ahead.add('x'.repeat(1_000)))
    if (waiting.length > 10) ahead.release(waiting.shift() as HeldFile)
  }
  expect(bytesIn(directory)).toBeLessThan(2.2 * 1024 * 1024)
  for (const file of waiting) ahead.release(file)
  expect(bytesIn(directory)).toBe(0)
  await ahead.close()
  expect(readdirSync(directory)).toEqual([])
})

test('beyond its files it leaves the disk space that is reserved for the ledger', async () => {
  const directory = folder()
  const ahead = createWriteAhead(directory, 'calls', () => Number.MAX_SAFE_INTEGER)
  const record = 'x'.repeat(1_048_576)
  const first = await ahead.add(record)
  const second = await ahead.add(record)
  await expect(ahead.add('more')).rejects.toThrow('are reserved for the ledger')
  ahead.release(first)
  await ahead.add('more')
  ahead.release(second)
  await ahead.close()
})

test('retries a folder that could not be created', async () => {
  const directory = join(folder(), 'a file')
  await Bun.write(directory, '')
  const ahead = createWriteAhead(directory, 'calls')
  expect(ahead.add('lost')).rejects.toThrow()
  rmSync(directory)
  await ahead.add('kept')
  await ahead.close()
  expect(await adopted(directory)).toEqual(['kept'])
})
