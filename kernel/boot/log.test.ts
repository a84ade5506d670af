import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

const LOG = new URL('./log.ts', import.meta.url).pathname

test.skipIf(!existsSync('/dev/full'))('a full disk does not affect callers of the logger', () => {
  const program = `
    import { createLogger } from ${JSON.stringify(LOG)}
    const log = createLogger('json')
    for (let i = 0; i < 30_000; i++) log.warn('a long line '.repeat(500))
    process.stdout.write(JSON.stringify({ rssMb: process.memoryUsage().rss / 2 ** 20 }))`
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, '-e', program], {
    stdout: 'pipe',
    stderr: Bun.file('/dev/full'),
  })
  expect(exitCode).toBe(0)
  // Lines that cannot be written are kept up to a limit.
  expect(JSON.parse(stdout.toString()).rssMb).toBeLessThan(150)
})

test('an error is logged without the credentials in its words, or in those of its cause', () => {
  const program = `
    import { createLogger } from ${JSON.stringify(LOG)}
    const cause = new Error('no route to postgres://joe:hunter2@db/x')
    const err = new Error('refused for sk-CANARYsecret42', { cause })
    createLogger('json').error({ err }, 'a sink failed')`
  const { stderr } = Bun.spawnSync([process.execPath, '-e', program])
  const line = JSON.parse(stderr.toString())
  expect(line.err).toMatchObject({ type: 'Error', stack: expect.stringContaining('[redacted]') })
  expect(line.err.message).toBe('refused for [redacted]: no route to postgres://[redacted]@db/x')
  expect(stderr.toString()).not.toMatch(/CANARY|hunter2/)
})

test('an unreadable error does not affect the caller that logs it', () => {
  const program = `
    import { createLogger } from ${JSON.stringify(LOG)}
    const error = new Error('no')
    Object.defineProperty(error, 'detail', { enumerable: true, get() { throw new Error('away') } })
    createLogger('json').error({ plugin: 'plugin.acme', err: error }, 'a sink failed')`
  const { stderr, exitCode } = Bun.spawnSync([process.execPath, '-e', program])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stderr.toString())).toMatchObject({
    plugin: 'plugin.acme',
    err: 'an error that cannot be read',
    msg: 'a sink failed',
  })
})
