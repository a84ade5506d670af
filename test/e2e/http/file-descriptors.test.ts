import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { adaKey } from '../../harness/gateway.ts'
import { spawnGateway } from '../../harness/process.ts'
import { believable, startUpstream } from '../../harness/upstream.ts'

const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
const call = [
  'POST /v1/chat/completions HTTP/1.1',
  'host: localhost',
  `authorization: Bearer ${adaKey}`,
  `content-length: ${body.length}`,
  '',
  body,
].join('\r\n')

const limit = (pid: number, files: string) =>
  spawnSync('prlimit', ['--pid', String(pid), `--nofile=${files}`]).status

test.skipIf(process.platform !== 'linux')(
  'a first call that finds no file descriptor left is refused, and the next ones are served',
  async () => {
    await using world = new AsyncDisposableStack()
    const upstream = await startUpstream()
    world.defer(upstream.stop)
    upstream.always(believable())
    const gateway = await spawnGateway({
      providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
      models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    })
    world.defer(gateway.remove)
    const caller = connect(Number(new URL(gateway.url).port), '127.0.0.1')
    world.defer(() => void caller.destroy())
    await once(caller, 'connect')
    const send = async (request = call) => {
      const reply = Promise.race([once(caller, 'data'), once(caller, 'close')])
      caller.write(request)
      return String((await reply)[0]).split('\r\n')[0]
    }
    // The connection is taken before there is nothing left for it.
    expect(await send('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')).toEndWith('200 OK')
    expect(limit(gateway.pid, '3:')).toBe(0)
    expect(await send()).toBe('HTTP/1.1 502 Bad Gateway')
    expect(limit(gateway.pid, '1000:')).toBe(0)
    expect(await send()).toBe('HTTP/1.1 200 OK')
  },
  30_000,
)
