/** The name that was most likely meant; undefined when none is near. */
export function closest(word: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  // More than a third of the letters wrong is another word.
  let least = Math.floor(Math.min(word.length, 100) / 3) + 1
  for (const name of names) {
    const edits = distance(word.slice(0, 100).toLowerCase(), name)
    if (edits < least) [best, least] = [name, edits]
  }
  return best
}

/** How many letters have to be put in, taken out or replaced. */
function distance(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, (last[j] as number) + 1, (row[j - 1] as number) + 1))
    }
    last = row
  }
  return last[b.length] as number
}
