import { wordList } from './word-lists.ts'
import type { Wrapper } from './wrapper.ts'

const afterOne: Wrapper = { operands: 1 }
const shellText: Wrapper = {
  options: {
    short: 'cgGsuw',
    values: wordList('command session-command group supp-group shell user whitelist-environment'),
  },
  text: ['-c', '--command', '--session-command'],
}
const switchUser: Wrapper = {
  ...shellText,
  scattered: true,
  user: true,
  shell: true,
  noCommand: true,
}

const superUser: Wrapper = {
  options: {
    short: 'ugpCThrtDRUa',
    values: wordList(
      'user group prompt close-from command-timeout host role type chdir chroot other-user',
    ),
    flags: wordList(
      'askpass background edit help list non-interactive preserve-env reset-timestamp remove-timestamp login shell stdin set-home validate version',
    ),
  },
  assignments: true,
  inert: ['-e', '--edit', '-l', '--list', '-v', '--validate', '-K', '-V', '--version'],
  shell: ['-s', '--shell', '-i', '--login'],
}

/** Commands that run another command as another user. */
export const users: Readonly<Record<string, Wrapper>> = {
  sudo: superUser,
  dzdo: superUser,
  'sudo-rs': superUser,
  doas: { options: { short: 'uCa' }, inert: ['-C', '-L'], shell: ['-s'] },
  su: switchUser,
  runuser: {
    ...switchUser,
    noCommand: false,
    // Then the user is not an operand, and all words after the options are the command.
    instead: { options: ['-u', '--user'], wrapper: shellText },
  },
  pkexec: { options: { values: ['user'] }, shell: true },
  gosu: afterOne,
  'su-exec': afterOne,
  setpriv: {
    options: {
      values: wordList(
        'reuid regid groups inh-caps ambient-caps bounding-set securebits selinux-label apparmor-profile pdeathsig',
      ),
    },
  },
}
