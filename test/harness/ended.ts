/** What a program has printed by its end, and its exit code. */
export async function ended(
  child: Bun.Subprocess<Bun.Spawn.Writable, 'pipe', 'pipe'>,
): Promise<{ readonly out: string; readonly err: string; readonly code: number }> {
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}
