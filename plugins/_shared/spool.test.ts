import { afterEach, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { openSpool, type Spool } from './spool.ts'

const log = pino({ level: 'silent' })
const folders: string[] = []
const spools: Spool[] = []
const children: Bun.Subprocess[] = []

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const spool of spools.splice(0)) await spool.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'spool-'))
  folders.push(path)
  return path
}

function open(directory: string, adopted?: (record: string) => void, name = 'test'): Spool {
  const spool = openSpool({ directory, name, log, ...(adopted && { adopted }) })
  spools.push(spool)
  return spool
}

async function replayed(spool: Spool): Promise<string[]> {
  const all: string[] = []
  await spool.replay(async (records) => {
    all.push(...records)
  })
  return all
}

/** The only data file of a folder. */
function dataFile(directory: string): string {
  const [file, ...others] = readdirSync(directory).filter((entry) => entry.endsWith('.log'))
  if (file === undefined || others.length > 0) throw new Error('expected one data file')
  return join(directory, file)
}

/** A process that spools in a folder: `script` sees `spool`, and prints when it is done. */
async function spoolingProcess(directory: string, script: string, shell = ''): Promise<string> {
  const code = `
    import { openSpool } from ${JSON.stringify(new URL('./spool.ts', import.meta.url).pathname)}
    import pino from 'pino'
    const directory = ${JSON.stringify(directory)}
    const spool = openSpool({ directory, name: 'test', log: pino({ level: 'silent' }) })
    ${script}
    setInterval(() => spool.depth, 1000)`
  const child = Bun.spawn(['/bin/sh', '-c', `${shell} exec "$0" -e "$1"`, process.execPath, code], {
    cwd: new URL('../..', import.meta.url).pathname,
    stdout: 'pipe',
  })
  children.push(child)
  const { value } = await child.stdout.getReader().read()
  return new TextDecoder().decode(value)
}

async function killAll(): Promise<void> {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    await child.exited
  }
}

test('replays appended records in order, once, and removes the file', async () => {
  const directory = join(folder(), 'made', 'for it')
  const spool = open(directory)
  expect(await replayed(spool)).toEqual([])
  await spool.append(['a', 'b'])
  await Promise.all([spool.append(['c']), spool.append([]), spool.append(['d', '', 'é\n"😀'])])
  expect(spool.depth).toBe(6)
  expect(await replayed(spool)).toEqual(['a', 'b', 'c', 'd', '', 'é\n"😀'])
  expect(spool.depth).toBe(0)
  expect(await replayed(spool)).toEqual([])
  expect(readdirSync(directory)).toEqual([])
})

test('concurrent appends share one disk sync', async () => {
  const spool = open(folder())
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      await spool.append([`${n}`])
      order.push(n)
    }),
  )
  expect(order).toEqual(Array.from({ length: 200 }, (_, n) => n))
  expect(await replayed(spool)).toEqual(order.map(String))
})

test('a failed replay continues where it failed; new records wait', async () => {
  const spool = open(folder())
  const records = Array.from({ length: 1200 }, (_, n) => `${n}`)
  await spool.append(records)
  const seen: string[] = []
  let calls = 0
  const failing = expect(
    spool.replay(async (group) => {
      if (++calls === 2) throw new Error('away')
      seen.push(...group)
    }),
  ).rejects.toThrow('away')
  await spool.append(['late'])
  await failing
  expect(spool.depth).toBe(1200 - seen.length + 1)
  expect([...seen, ...(await replayed(spool))]).toEqual([...records, 'late'])
})

test('a large replay that fails midway passes each record once', async () => {
  const spool = open(folder())
  const records = Array.from({ length: 400 }, (_, n) => `${n}:${'x'.repeat(10_000)}`)
  await spool.append(records)
  const seen: string[] = []
  for (let most = 1; seen.length < records.length && most < 10; most++) {
    let groups = 0
    await spool
      .replay(async (group) => {
        if (groups++ === most) throw new Error('away')
        seen.push(...group)
      })
      .catch(() => {})
  }
  expect(seen).toEqual(records)
  expect(spool.depth).toBe(0)
})

test('a second replay waits for the running one, and so does close', async () => {
  const spool = open(folder())
  await spool.append(['a', 'b'])
  const seen: string[] = []
  const gate = Promise.withResolvers<void>()
  const apply = async (group: readonly string[]) => {
    await gate.promise
    seen.push(...group)
  }
  const both = Promise.all([spool.replay(apply), spool.replay(apply)])
  const closed = spool.close()
  await Bun.sleep(10)
  gate.resolve()
  await closed
  expect(seen).toEqual(['a', 'b'])
  await both
  expect(seen).toEqual(['a', 'b'])
})

test('a closed spool leaves its records to the next one', async () => {
  const directory = folder()
  const first = open(directory)
  await first.append(['a', 'b'])
  await first.close()
  const adopted: string[] = []
  const second = open(directory, (record) => adopted.push(record))
  await second.append(['c'])
  await second.adopt()
  expect(adopted).toEqual(['a', 'b'])
  expect(second.depth).toBe(3)
  expect(await replayed(second)).toEqual(['a', 'b', 'c'])
  expect(readdirSync(directory)).toEqual([])
})

test('leaves other spools and other files alone', async () => {
  const directory = folder()
  const other = open(directory, undefined, 'test-too')
  await other.append(['theirs'])
  await other.close()
  writeFileSync(join(directory, 'test-notes.log'), 'a note')
  expect(await replayed(open(directory))).toEqual([])
  expect(await replayed(open(directory, undefined, 'test-too'))).toEqual(['theirs'])
  expect(readdirSync(directory)).toEqual(['test-notes.log'])
})

test('takes over a file only after its process was killed', async () => {
  const directory = folder()
  const script = `await spool.append(['one', 'two']); console.log('ready')`
  expect(await spoolingProcess(directory, script)).toBe('ready\n')
  const spool = open(directory)
  await spool.append(['mine'])
  expect(await replayed(spool)).toEqual(['mine'])
  await killAll()
  expect(await replayed(spool)).toEqual(['one', 'two'])
  expect(readdirSync(directory)).toEqual([])
})

test('only one of two processes takes over a file', async () => {
  for (let round = 0; round < 5; round++) {
    const directory = folder()
    const dead = open(directory)
    await dead.append(['a', 'b', 'c'])
    await dead.close()
    const all = await Promise.all([open(directory), open(directory), open(directory)].map(replayed))
    expect(all.flat()).toEqual(['a', 'b', 'c'])
  }
})

test('killed at any moment, a process loses no record that was reported safe', async () => {
  for (const pause of [0, 5, 20]) {
    const directory = folder()
    const script = `
      console.log('ready')
      for (let n = 0; ; n++) { await spool.append([String(n)]); require('node:fs').writeSync(2, n + '\\n') }`
    const safe = join(folder(), 'safe')
    await spoolingProcess(directory, script, `exec 2>${safe};`)
    await Bun.sleep(pause)
    await killAll()
    const told = readFileSync(safe, 'utf8').split('\n').filter(Boolean).length
    const kept = await replayed(open(directory))
    expect(kept).toEqual(kept.map((_, n) => String(n)))
    expect(kept.length).toBeGreaterThanOrEqual(told)
  }
})

test('a damaged file yields its intact records, and is kept for inspection', async () => {
  const directory = folder()
  const first = open(directory)
  await first.append(['one', 'two', 'three'])
  await first.close()
  const path = dataFile(directory)
  writeFileSync(path, readFileSync(path, 'utf8').replace('two', 'tvo'))
  const spool = open(directory)
  expect(await replayed(spool)).toEqual(['one', 'three'])
  expect(spool.depth).toBe(0)
  expect(readdirSync(directory)).toEqual([expect.stringMatching(/\.log\.damaged$/)])
  expect(await replayed(open(directory))).toEqual([])
})

test('damage while records wait does not block forever', async () => {
  const directory = folder()
  const spool = open(directory)
  await spool.append(['one', 'two', 'three'])
  const path = dataFile(directory)
  writeFileSync(path, readFileSync(path, 'utf8').replace('two', 'tvo'))
  expect(await replayed(spool)).toEqual(['one', 'three'])
  expect(spool.depth).toBe(0)
})

test('a completely damaged file is kept too', async () => {
  const directory = folder()
  const first = open(directory)
  await first.append(['one'])
  await first.close()
  const path = dataFile(directory)
  writeFileSync(path, readFileSync(path, 'utf8').replace('one', 'two'))
  expect(await replayed(open(directory))).toEqual([])
  expect(readdirSync(directory)).toEqual([expect.stringMatching(/\.log\.damaged$/)])
})

test('joins several reads of the disk', async () => {
  const spool = open(folder())
  const records = Array.from({ length: 300 }, (_, n) => `${n}`.repeat(10_000))
  await spool.append(records)
  expect(await replayed(spool)).toEqual(records)
})

test('append rejects on an unwritable disk, and works again afterwards', async () => {
  const directory = join(folder(), 'spool')
  writeFileSync(directory, 'not a folder')
  const spool = open(directory)
  await expect(spool.append(['a'])).rejects.toThrow()
  await expect(spool.probe()).rejects.toThrow()
  renameSync(directory, `${directory}-moved`)
  mkdirSync(directory)
  await spool.probe()
  await spool.append(['b'])
  expect(await replayed(spool)).toEqual(['b'])
  expect(readdirSync(directory)).toEqual([])
})

test('a file that was deleted in an outage does not block later ones', async () => {
  const directory = folder()
  const spool = open(directory)
  await spool.append(['1'])
  for (const entry of readdirSync(directory)) rmSync(join(directory, entry))
  expect(await replayed(spool)).toEqual(['1'])
  await spool.append(['2'])
  expect(await replayed(spool)).toEqual(['2'])
  expect(readdirSync(directory)).toEqual([])
})

test('a file that cannot be taken over is reported once, and does not block others', async () => {
  const directory = folder()
  const left = open(directory)
  await left.append(['left'])
  await left.close()
  const path = join(directory, `test-${Bun.randomUUIDv7()}.log`)
  mkdirSync(path)
  const told: unknown[] = []
  const telling = pino(
    { level: 'warn' },
    { write: (line) => void told.push(JSON.parse(line).path) },
  )
  const spool = openSpool({ directory, name: 'test', log: telling })
  spools.push(spool)
  await spool.adopt()
  await spool.append(['own'])
  expect(await replayed(spool)).toEqual(['left', 'own'])
  expect(spool.depth).toBe(0)
  expect(told).toEqual([path])

  // Checked again, and reported again if it was readable meanwhile.
  rmSync(path, { recursive: true })
  await spool.adopt()
  mkdirSync(path)
  await spool.adopt()
  expect(told).toEqual([path, path])
})

test('an unreadable file is released, and taken over when readable', async () => {
  const directory = folder()
  const left = open(directory)
  await left.append(['left'])
  await left.close()
  const path = dataFile(directory)
  renameSync(path, `${path}-whole`)
  // It is opened, and the first read fails.
  symlinkSync('/proc/self/mem', path)
  const spool = open(directory)
  await spool.adopt()
  expect(spool.depth).toBe(0)
  renameSync(`${path}-whole`, path)
  expect(await replayed(spool)).toEqual(['left'])
  expect(readdirSync(directory)).toEqual([])
})

test('a file that is taken over at the second try reports each record once', async () => {
  const directory = folder()
  const left = open(directory)
  await left.append(['a', 'b', 'c'])
  await left.close()
  const told: string[] = []
  let fails = true
  const spool = open(directory, (record) => {
    if (record === 'b' && fails) throw new Error('not now')
    told.push(record)
  })
  await spool.adopt()
  expect(spool.depth).toBe(0)
  fails = false
  await spool.adopt()
  expect(told).toEqual(['a', 'b', 'c'])
  expect(spool.depth).toBe(3)
})

test('refuses only the record that is too large', async () => {
  const spool = open(folder())
  await expect(spool.append(['x'.repeat(17 * 1024 * 1024)])).rejects.toThrow('16 MiB')
  await spool.append(['fine'])
  expect(await replayed(spool)).toEqual(['fine'])
})

test('its files are readable only by their owner, also those of earlier versions', async () => {
  const directory = folder()
  const left = open(directory)
  await left.append(['left'])
  await left.close()
  chmodSync(dataFile(directory), 0o644)
  const spool = open(directory)
  await spool.adopt()
  await spool.append(['own'])
  const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777)
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o600])
})

test('leaves the disk space that is reserved for the ledger', async () => {
  const directory = folder()
  let reserve = Number.MAX_SAFE_INTEGER
  const logs = openSpool({ directory, name: 'log', log, reserve: () => reserve })
  const ledger = open(directory, undefined, 'ledger')
  spools.push(logs)
  await expect(logs.append(['a'])).rejects.toThrow('accounting.spool_reserve_mib')
  expect(readdirSync(directory)).toEqual([])
  await ledger.append(['charge'])
  expect([logs.depth, ledger.depth]).toEqual([0, 1])
  reserve = 1
  await logs.append(['b'])
  expect(await replayed(logs)).toEqual(['b'])
  expect(await replayed(ledger)).toEqual(['charge'])
})

test('a full disk rejects whole batches, and keeps all accepted ones', async () => {
  const directory = folder()
  // A limit on the size of files, 512 bytes a unit: to a writer it is a full disk.
  const script = `
    let taken = 0, refused = 0
    for (let n = 0; n < 40; n++) {
      try { await spool.append([taken + ':' + 'x'.repeat(5000), taken + ':again']); taken++ }
      catch { refused++ }
    }
    let probe = 'writable'
    await spool.probe().catch(() => { probe = 'full' })
    console.log(JSON.stringify({ taken, refused, probe, depth: spool.depth }))`
  const limit = "trap '' XFSZ; ulimit -f 100;"
  const result = JSON.parse(await spoolingProcess(directory, script, limit))
  expect(result.refused).toBeGreaterThan(0)
  expect(result.taken).toBeGreaterThan(result.refused)
  expect(result).toMatchObject({ probe: 'full', depth: result.taken * 2 })
  await killAll()
  const kept = await replayed(open(directory))
  expect(kept.map((record) => record.slice(0, 8))).toEqual(
    Array.from({ length: result.taken }, (_, n) => [`${n}:xxxxxxx`.slice(0, 8), `${n}:again`])
      .flat()
      .map((record) => record.slice(0, 8)),
  )
})
