import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { adaKey, startTestGateway } from '../../harness/gateway.ts'

const MB = 1 << 20

test('a chunked body a little over the usual limit is refused as too large, not as too late', async () => {
  const gateway = await startTestGateway({
    server: { body_timeout_ms: 8000 },
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'm', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
  })
  const { hostname, port } = new URL(gateway.url)
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${adaKey}\r\ntransfer-encoding: chunked\r\n\r\n`,
      )
      for (let sent = 0; sent < 33 * MB; sent += 0x10000) socket.write(chunk)
      socket.write('0\r\n\r\n')
    })
    socket.on('data', (data) => {
      resolve(String(data))
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(''))
  })
  expect(answer).toStartWith('HTTP/1.1 413')
  await gateway.stop()
})
