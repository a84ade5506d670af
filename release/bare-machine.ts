import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** What the gateway asks of a system beside its libraries. */
const PROGRAMS = ['sh', 'cat', 'id']
/** Postgres needs these two beyond what those programs load. */
const LIBRARIES = [
  'libstdc++.so.6',
  'libgcc_s.so.1',
  'librt.so.1',
  'libpthread.so.0',
  'libdl.so.2',
  'libm.so.6',
]

/** A system with a shell and the C library, and neither Bun nor Node nor anything of this project. */
export interface BareMachine {
  /** A folder of it, as this process sees it. */
  readonly folder: string
  /** The same folder, as the machine's programs see it. */
  readonly inside: string
  /** Starts a program of the folder, with an environment that holds only a PATH and `env`. */
  spawn(
    command: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  remove(): void
}

/**
 * Root gets a root directory of its own, with its own `/proc`; anybody else a PATH without the
 * programs that must not be there.
 */
export function createBareMachine(): BareMachine {
  const root = mkdtempSync(join(tmpdir(), 'gateway-machine-'))
  const isRoot = process.getuid?.() === 0
  // As root, Postgres runs under another account, which has to pass through.
  chmodSync(root, isRoot ? 0o711 : 0o700)
  const folder = join(root, 'opt')
  for (const name of ['bin', 'etc', 'opt', 'tmp', 'proc', 'dev']) mkdirSync(join(root, name))
  chmodSync(join(root, 'tmp'), 0o1777)
  for (const name of PROGRAMS) copyProgram(name, root, isRoot)
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n',
  )
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n')
  const inside = isRoot ? '/opt' : folder
  const enter = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"`
  return {
    folder,
    inside,
    spawn(command, env = {}) {
      const [program = '', ...args] = command
      const here = [join(inside, program), ...args]
      const all = isRoot
        ? [
            'unshare',
            '--mount',
            'sh',
            '-c',
            enter,
            root,
            '/bin/sh',
            '-c',
            'cd /opt && exec "$@"',
            'sh',
            ...here,
          ]
        : here
      // `mount` and `chroot` are this machine's; the command itself sees only its own `/bin`.
      const path = isRoot ? `${process.env.PATH}:/usr/sbin:/sbin:/bin` : join(root, 'bin')
      return Bun.spawn(all, {
        cwd: folder,
        env: { PATH: path, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

function copyProgram(name: string, root: string, withLibraries: boolean): void {
  const path = Bun.which(name)
  if (path === null) throw new Error(`there is no ${name}`)
  copyFileSync(path, join(root, 'bin', name))
  if (!withLibraries) return
  for (const library of librariesOf(path)) copyTo(root, library)
}

function copyTo(root: string, path: string): void {
  mkdirSync(join(root, dirname(path)), { recursive: true })
  copyFileSync(path, join(root, path))
}

/** Where the loader finds what a program needs, and beside it what else it would find there. */
function librariesOf(program: string): string[] {
  const listed = Bun.spawnSync(['ldd', program]).stdout.toString()
  const found = [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path as string)
  const libc = found.find((path) => basename(path) === 'libc.so.6')
  const others = LIBRARIES.map((name) => join(dirname(libc ?? '/lib/x'), name))
  return [...found, ...others.filter((path) => existsSync(path))]
}
