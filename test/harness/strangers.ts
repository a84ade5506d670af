/** What tests of plugins outside the repository have in common: a packed gateway and plain folders. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { ended } from './ended.ts'
import { adaKey } from './gateway.ts'

const ROOT = join(import.meta.dir, '../..')

/** The port that every example config names for its stand-in. */
const STAND_IN_PORT = '4011'

type Env = Readonly<Record<string, string>>

/**
 * Packs this project into a folder, as it would be published; the console stays as it was built.
 * Returns the path of the tarball.
 */
export async function packProject(folder: string): Promise<string> {
  const pack = ['pm', 'pack', '--destination', folder, '--ignore-scripts', '--quiet']
  const [path = ''] = (await runIn(ROOT, pack)).split('\n', 1)
  return join(folder, basename(path))
}

/** Runs Bun in a folder to its end and gives what it printed; throws when it fails. */
export async function runIn(cwd: string, args: readonly string[], env: Env = {}): Promise<string> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, GATEWAY_KEY: adaKey, ...env },
  })
  const { out, err, code } = await ended(child)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}\n${out}\n${err}`)
  return out + err
}

/** Starts `stand-in.ts` of each folder, each on its own port. */
export async function startStandIns(folders: readonly string[]) {
  const children = folders.map((folder) =>
    Bun.spawn([process.execPath, 'stand-in.ts'], {
      cwd: folder,
      stdout: 'pipe',
      env: { ...process.env, PORT: '0' },
    }),
  )
  const ports = new Map<string, number>()
  for (const [index, child] of children.entries()) {
    ports.set(folders[index] as string, Number(await firstMatch(child.stdout, /:(\d+)\//)))
  }
  return {
    portOf: (folder: string) => ports.get(folder),
    async stop() {
      for (const child of children) {
        child.kill()
        await child.exited
      }
    },
  }
}

/** The example configs of plugins as one: paths absolute, ports those of the stand-ins. */
export function mergedConfig(
  folders: readonly string[],
  portOf: (folder: string) => number | undefined,
): Record<string, unknown> {
  const merged: Record<string, unknown> = {}
  for (const folder of folders) {
    const text = readFileSync(join(folder, 'gateway.example.yaml'), 'utf8')
      .replaceAll(STAND_IN_PORT, String(portOf(folder)))
      .replaceAll('./src/index.ts', join(folder, 'src/index.ts'))
    mergeInto(merged, parse(text) as Fields)
  }
  return merged
}

type Fields = Record<string, unknown>

/** Maps are merged; lists are put together, what has the same name in both as one. */
function mergeInto(into: Fields, from: Fields): void {
  for (const [key, value] of Object.entries(from)) {
    const present = into[key]
    if (Array.isArray(present) && Array.isArray(value)) {
      for (const item of value) {
        const known = present.find((other) => nameOf(other) === nameOf(item))
        if (known === undefined) present.push(item)
        else if (isFields(known) && isFields(item)) mergeInto(known, item)
      }
    } else if (isFields(present) && isFields(value)) mergeInto(present, value)
    else into[key] = value
  }
}

/** What tells the items of a list apart. */
function nameOf(item: unknown): string {
  const { id, email, use } = isFields(item) ? item : {}
  return String(id ?? email ?? use ?? JSON.stringify(item))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export interface PackedGateway {
  readonly url: string
  /** Posts as Ada. */
  post(path: string, body: unknown, headers?: Env): Promise<Response>
  /** Asks a model something. */
  chat(model: string, content: string, more?: object): Promise<Response>
  /** Runs a `gateway` command with the same config and data. */
  command(...words: readonly string[]): Promise<string>
  stop(): Promise<void>
}

export interface PackedGatewayOptions {
  /** Where `model-gateway` is installed: a folder with `node_modules`. */
  readonly installedIn: string
  readonly config: Fields
  readonly databaseUrl: string
  /** Its config file and its data go there. */
  readonly folder: string
  readonly env?: Env
}

/** Starts the gateway of the packed tarball, as a separate process. */
export async function startPackedGateway(options: PackedGatewayOptions): Promise<PackedGateway> {
  const { installedIn, config, databaseUrl, folder, env = {} } = options
  const main = join(installedIn, 'node_modules/model-gateway/plugins/standard/main.ts')
  const file = join(folder, 'gateway.yaml')
  await Bun.write(
    file,
    stringify({
      ...config,
      server: { bind: '127.0.0.1:0', log_format: 'json' },
      database: { url: `literal.${databaseUrl}` },
    }),
  )
  const places = ['--config', file, '--data-dir', join(folder, 'data')]
  const child = Bun.spawn([process.execPath, main, 'serve', ...places], {
    stdout: 'ignore',
    stderr: 'pipe',
    env: { ...process.env, GATEWAY_KEY: adaKey, ...env },
  })
  const stop = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  const url = await firstMatch(child.stderr, /"url":"([^"]+)"[^\n]*the gateway is serving/)
  const post: PackedGateway['post'] = (path, body, headers = {}) =>
    fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${adaKey}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    })
  return {
    url,
    post,
    chat: (model, content, more = {}) =>
      post('/v1/chat/completions', { model, messages: [{ role: 'user', content }], ...more }),
    command: (...words) => runIn(folder, [main, ...words, ...places], env),
    stop,
  }
}

/** The first group of the first match in what a process prints, which goes on being read. */
async function firstMatch(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const found = Promise.withResolvers<string>()
  void (async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const piece of stream) {
      text += decoder.decode(piece, { stream: true })
      const match = pattern.exec(text)?.[1]
      if (match !== undefined) found.resolve(match)
    }
    found.reject(new Error(`the process ended: ${text}`))
  })()
  return await found.promise
}
