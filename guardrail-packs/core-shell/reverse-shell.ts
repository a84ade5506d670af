import type { ProgramCall, SimpleCommand } from '../_shared/command.ts'
import { isShell, shells } from '../_shared/command-nested.ts'
import { wrappers } from '../_shared/wrapper-table.ts'

const network = /^\/dev\/(tcp|udp)\//

/**
 * Whether a command connects a shell to the network. Testing whether a port is open is harmless.
 */
export function connectsShell(command: SimpleCommand): boolean {
  if (command.redirects.some(({ target }) => network.test(target.text)))
    if (
      isShell(command) ||
      command.executable === 'exec' ||
      interpreter.test(command.executable) ||
      (wrappers.has(command.executable) && command.words.some(({ text }) => namesShell(text)))
    )
      return true
  // Network files of gawk.
  if (/^[gmn]?awk$/.test(command.executable))
    return command.words.some(({ text }) => /\/inet[46]?\/(?:tcp|udp)\//.test(text))
  switch (command.executable) {
    case 'nc':
    case 'ncat':
    case 'netcat':
    case 'nc.traditional':
      return command.words.some((word, at) => {
        if (/^(-[a-z]*[ec]|--exec|--sh-exec)$/.test(word.text))
          return namesShell(command.words[at + 1]?.text ?? '')
        return /^--(sh-)?exec=/.test(word.text) && namesShell(word.text.replace(/^[^=]*=/, ''))
      })
    case 'socat':
      return command.words.some(
        (word) => /^(exec|system):/i.test(word.text) && namesShell(word.text.replace(/^\w+:/, '')),
      )
  }
  return (
    command.calls.some(connects) && command.calls.some((call) => startsShell(call, command.calls))
  )
}

function connects({ name, strings }: ProgramCall): boolean {
  if (name === 'require') return strings.some((text) => /^(node:)?(net|tls)$/.test(text))
  return (
    /socket|TCPSocket|fsockopen|net\.connect|createConnection/i.test(name) &&
    !/socket\.(get|inet_)\w+$/.test(name)
  )
}

/** Whether a call starts a shell, or runs data of the connection; a named program is harmless. */
function startsShell(
  { name, strings, arguments: given }: ProgramCall,
  calls: readonly ProgramCall[],
): boolean {
  if (/(^|\.)dup2$/.test(name)) return true
  if (!starts.test(name)) return false
  if (strings.some((text) => namesShell(text) || /^(cmd|powershell|pwsh)(\.exe)?$/i.test(text)))
    return true
  if (/\.fileno\(|[<>]&/.test(given) || !strings.some((text) => /\w\w/.test(text))) return true
  return !/^[\s([]*[bfru]?["'`]/.test(given) && calls.some((call) => receives.test(call.name))
}

const starts =
  /(^|\.)(exec|execl|execve?|execute|system|spawn|popen|proc_open|shell_exec|call|run|check_output|getoutput)(\$_)?$/i
const receives = /(^|\.)(recv|makefile|fdopen|f?gets|receive|on)$/
const interpreter = /^(python|perl|ruby|php|node)[\d.]*$/

function namesShell(text: string): boolean {
  const first = text.trim().split(/[\s,]+/)[0] ?? ''
  return shells.has(first.slice(first.lastIndexOf('/') + 1).replace(/['"]/g, ''))
}
