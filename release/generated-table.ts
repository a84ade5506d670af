const END = '\n\n<!-- The end of the table -->'

/**
 * The page with its generated table replaced. `script` of package.json makes it; the first row is the
 * head. Throws an Error for a page without the marks around the table.
 */
export function withTable(
  page: string,
  script: string,
  rows: readonly (readonly string[])[],
): string {
  const mark = `<!-- The table below is generated: bun run ${script} -->\n\n`
  const begin = page.indexOf(mark)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`the page must contain the comments of ${script}`)
  return page.slice(0, begin + mark.length) + table(rows) + page.slice(end)
}

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
