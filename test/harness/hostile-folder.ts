/** A folder whose files try to give orders to whatever is started in it. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ended } from './ended.ts'

const variables = ['.env', '.env.local', '.env.development']

/** A command and its input, for which the packs deny what an agent is about to do. */
export const guard = ['guard', '--format', 'claude_code']
export const hook = JSON.stringify({
  tool_name: 'Bash',
  tool_input: { command: 'git reset --hard' },
})

/** A PATH on which `bun` is the one of this process, by way of a folder that is made here. */
export function pathWithBun(home: string): string {
  const bin = join(home, 'bin-of-bun')
  mkdirSync(bin)
  symlinkSync(process.execPath, join(bin, 'bun'))
  return `${bin}:${process.env.PATH}`
}

/** The files that Bun, or a program compiled with it, may read where it is started. */
export const hostileFiles = [...variables, 'bunfig.toml', 'tsconfig.json', 'jsconfig.json']

export interface HostileFolder {
  readonly path: string
  /** Where the files send calls. */
  readonly url: string
  /** Runs a command in the folder, with the whole of its environment. */
  run(
    command: readonly string[],
    env?: Readonly<Record<string, string>>,
    input?: string,
  ): Promise<{ readonly out: string; readonly err: string; readonly code: number }>
  /** Which of the files the guard obeys, each alone in the folder; it is started by these words. */
  obeyed(start: readonly string[]): Promise<readonly string[]>
  /** Puts these files there, and takes the others away. */
  place(files: readonly string[]): void
  /** Whether code of the folder has run, or a call went where its files send them, since `place`. */
  wasObeyed(): boolean
  remove(): void
}

/** Makes the folder, with all of the files. */
export function createHostileFolder(): HostileFolder {
  const home = mkdtempSync(join(tmpdir(), 'gateway-hostile-'))
  const path = join(home, 'folder')
  mkdirSync(path)
  const PATH = pathWithBun(home)
  const mark = join(path, 'it-ran')
  let calls = 0
  const server = Bun.listen({
    port: 0,
    hostname: '127.0.0.1',
    socket: {
      open(socket) {
        calls += 1
        socket.end()
      },
      data() {},
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  writeFileSync(join(path, 'orders.ts'), `await Bun.write(${JSON.stringify(mark)}, '')`)
  writeFileSync(join(path, 'orders.yaml'), 'plugins: [{ use: ./orders.ts }]\n')
  const paths = JSON.stringify({ compilerOptions: { paths: { '*': ['./orders.ts'] } } })
  const text = (file: string) =>
    variables.includes(file)
      ? `GATEWAY_URL=${url}\nGATEWAY_CONFIG=orders.yaml\nHTTP_PROXY=${url}\nNODE_TLS_REJECT_UNAUTHORIZED=0\n`
      : file === 'bunfig.toml'
        ? 'preload = ["./orders.ts"]\n'
        : paths
  const place = (files: readonly string[]) => {
    for (const file of hostileFiles) rmSync(join(path, file), { force: true })
    for (const file of files) writeFileSync(join(path, file), text(file))
    rmSync(mark, { force: true })
    calls = 0
  }
  const run: HostileFolder['run'] = async (command, env = {}, input = '') => {
    const child = Bun.spawn([...command], {
      cwd: path,
      // Not the NODE_ENV of tests, with which Bun reads other files.
      env: { PATH, HOME: process.env.HOME ?? '', ...env },
      stdin: new Blob([input]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return await ended(child)
  }
  const wasObeyed = () => calls > 0 || existsSync(mark)
  place(hostileFiles)
  return {
    path,
    url,
    place,
    wasObeyed,
    run,
    async obeyed(start) {
      const found: string[] = []
      for (const file of hostileFiles) {
        place([file])
        await run([...start, ...guard], { GATEWAY_API_KEY: 'gwk_x' }, hook)
        if (wasObeyed()) found.push(file)
      }
      place(hostileFiles)
      return found
    },
    remove() {
      server.stop(true)
      rmSync(home, { recursive: true, force: true })
    },
  }
}
