import type { SimpleCommand } from '../_shared/command.ts'
import { isShell, shells } from '../_shared/command-nested.ts'

const network = /^\/dev\/(tcp|udp)\//

/** Whether a command ties a shell to a connection. Asking whether a port is open is no harm. */
export function connectsShell(command: SimpleCommand): boolean {
  if (command.redirects.some(({ target }) => network.test(target.text)))
    if (isShell(command) || command.executable === 'exec' || interpreter.test(command.executable))
      return true
  switch (command.executable) {
    case 'nc':
    case 'ncat':
    case 'netcat':
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
    command.calls.some((call) =>
      /socket|TCPSocket|fsockopen|net\.connect|createConnection/i.test(call.name),
    ) &&
    command.calls.some((call) =>
      /(^|\.)(dup2|exec|execl|execve?|execute|system|spawn|popen|proc_open|shell_exec|call|run)(\$_)?$/i.test(
        call.name,
      ),
    )
  )
}

const interpreter = /^(python|perl|ruby|php|node)[\d.]*$/

function namesShell(text: string): boolean {
  const first = text.trim().split(/[\s,]+/)[0] ?? ''
  return shells.has(first.slice(first.lastIndexOf('/') + 1).replace(/['"]/g, ''))
}
