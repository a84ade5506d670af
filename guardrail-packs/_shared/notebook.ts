/**
 * The shell commands in a notebook cell: `!cmd`, `x = !cmd`, `%sx cmd`, `%rm -r x`, `%%bash` and
 * similar.
 */
export function notebookCommands(cell: string): readonly (string | readonly string[])[] {
  if (!/[!%]/.test(cell)) return none
  const { 1: magic, 2: rest = '' } =
    /^\s*%%(bash|sh|zsh|script|system|sx|cmd|powershell|pwsh)\b[^\n]*\n(.*)$/is.exec(cell) ?? []
  if (magic !== undefined) {
    return /^(?:powershell|pwsh)$/i.test(magic) ? [['pwsh', '-Command', rest]] : [rest]
  }
  return cell.split('\n').flatMap((line) => {
    const found = shellLine.exec(line.trimStart())?.[1]
    return found === undefined || found.trim() === '' ? none : [found]
  })
}

const none: readonly string[] = []

const shellLine =
  /^(?:[\w, ]+=\s*)?(?:!{1,2}|%(?:sx|system|bash|sh|cmd)\s+|%(?=(?:rm|rmdir|mv|cp)\s))(?!=)(.*)$/
