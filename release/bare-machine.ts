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

/** Programs of the system that the gateway calls. */
const PROGRAMS = ['sh', 'cat', 'id']
/** Libraries that Postgres needs and those programs do not load. */
const LIBRARIES = [
  'libstdc++.so.6',
  'libgcc_s.so.1',
  'librt.so.1',
  'libpthread.so.0',
  'libdl.so.2',
  'libm.so.6',
]

/** A system that has only a shell and the C library: no Bun, no Node, no files of this project. */
export interface BareMachine {
  /** Path of its folder for this process. */
  readonly folder: string
  /** Path of the same folder for programs of the machine. */
  readonly inside: string
  /** Starts a program of the folder. Its environment has only `PATH` and `env`. */
  spawn(
    command: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  remove(): void
}

/**
 * Creates the machine. Under root it is a separate root directory with its own `/proc`; under other
 * accounts only a `PATH` without Bun and Node.
 */
export function createBareMachine(): BareMachine {
  const root = mkdtempSync(join(tmpdir(), 'gateway-machine-'))
  const isRoot = process.getuid?.() === 0
  // As root, Postgres runs under another account, which needs to enter this folder.
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
      // `mount` and `chroot` are programs of the host; the command itself has only its `/bin`.
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
  if (path === null) throw new Error(`${name} is not installed`)
  copyFileSync(path, join(root, 'bin', name))
  if (!withLibraries) return
  for (const library of librariesOf(path)) copyTo(root, library)
}

function copyTo(root: string, path: string): void {
  mkdirSync(join(root, dirname(path)), { recursive: true })
  copyFileSync(path, join(root, path))
}

/** Paths of the libraries that a program loads, and of `LIBRARIES` in the same folder. */
function librariesOf(program: string): string[] {
  const listed = Bun.spawnSync(['ldd', program]).stdout.toString()
  const found = [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path as string)
  const libc = found.find((path) => basename(path) === 'libc.so.6')
  const others = LIBRARIES.map((name) => join(dirname(libc ?? '/lib/x'), name))
  return [...found, ...others.filter((path) => existsSync(path))]
}
