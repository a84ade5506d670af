import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../test/harness/process.ts'
import { untilItAnswers } from './machine.ts'

/** Another proxy that is installed on this machine. */
export interface Peer {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Starts every peer that is installed, and calls `note` for each other one. */
export async function startPeers(
  upstreamUrl: string,
  note: (text: string) => void,
): Promise<readonly Peer[]> {
  const peers: Peer[] = []
  const starts = [() => startNginx(upstreamUrl), ...portkeyStarts(upstreamUrl)]
  for (const start of starts) {
    const peer = await start()
    if (typeof peer === 'string') note(peer)
    else peers.push(peer)
  }
  return peers
}

type Start = () => Promise<Peer | string>

async function startNginx(upstreamUrl: string): Promise<Peer | string> {
  const nginx = Bun.which('nginx')
  if (nginx === null) return 'nginx is not installed: it has no row'
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-nginx-'))
  mkdirSync(join(folder, 'logs'))
  const port = freePort()
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log stderr warn;
     events { worker_connections 4096; }
     http {
       access_log off; client_max_body_size 64m; client_body_buffer_size 1m;
       client_body_temp_path body; proxy_temp_path proxy;
       fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
       upstream provider { server ${new URL(upstreamUrl).host}; keepalive 64; }
       server {
         listen 127.0.0.1:${port}; keepalive_requests 1000000;
         location / {
           proxy_pass http://provider; proxy_http_version 1.1;
           proxy_set_header connection ""; proxy_buffering off;
         }
       }
     }`,
  )
  const command = [nginx, '-p', folder, '-c', join(folder, 'nginx.conf')]
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  return await startPeer('nginx', command, port, {}, removeFolder)
}

/**
 * The npm package, on each runtime that is installed. It has no keys, budgets, ledger or database.
 */
function portkeyStarts(upstreamUrl: string): Start[] {
  let manifest: string
  try {
    manifest = Bun.resolveSync('@portkey-ai/gateway/package.json', process.cwd())
  } catch {
    return [async () => '@portkey-ai/gateway is not installed: it has no row']
  }
  const script = join(dirname(manifest), 'build', 'start-server.js')
  const headers = {
    authorization: 'Bearer upstream',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstreamUrl}/v1`,
  }
  const runtimes = [
    ['Portkey on Bun', process.execPath],
    ['Portkey on Node', Bun.which('node')],
  ] as const
  return runtimes.flatMap(([name, runtime]) => {
    if (runtime === null) return []
    const port = freePort()
    const command = [runtime, script, '--headless', `--port=${port}`]
    return [() => startPeer(name, command, port, headers, () => {})]
  })
}

async function startPeer(
  name: string,
  command: string[],
  port: number,
  headers: Readonly<Record<string, string>>,
  cleanUp: () => void,
): Promise<Peer | string> {
  const origin = `http://127.0.0.1:${port}`
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
  const stop = async () => {
    child.kill('SIGKILL')
    await child.exited
    cleanUp()
  }
  try {
    await untilItAnswers(origin)
  } catch {
    await stop()
    return `${name} does not start: it has no row`
  }
  return { name, url: `${origin}/v1/chat/completions`, pid: child.pid, headers, stop }
}
