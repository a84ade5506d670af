import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '..')

/** The package as `bun pm pack` makes it, in `folder`, with the console as it was last built. */
export async function packPackage(folder: string): Promise<string> {
  const child = Bun.spawn(
    [process.execPath, 'pm', 'pack', '--destination', folder, '--ignore-scripts', '--quiet'],
    { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' },
  )
  const out = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text())
  return join(folder, out.trim().split('/').at(-1) as string)
}
