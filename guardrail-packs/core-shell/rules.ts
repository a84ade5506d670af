import type { PackRule } from 'model-gateway/guardrail'
import { shells } from '../_shared/command-nested.ts'
import { wordSet } from '../_shared/word-lists.ts'

/** The rules of the pack, in any order: the judge decides which is checked first. */
export const rules = [
  {
    id: 'power-state',
    reasonCode: 'shell.power_state',
    description: 'Shuts down, restarts or suspends the machine.',
    saferAction: 'Restart the one service that needs it, or ask a person to restart the machine.',
  },
  {
    id: 'make-filesystem',
    reasonCode: 'shell.make_filesystem',
    description: 'Formats a device or image, which erases what it holds.',
    saferAction: 'List devices with lsblk and let a person format the right one.',
  },
  {
    id: 'kill-everything',
    reasonCode: 'shell.kill_everything',
    description: 'Signals process 1 or every process at once.',
    saferAction: 'Name the process id that is to end.',
  },
  {
    id: 'fork-bomb',
    reasonCode: 'shell.fork_bomb',
    description: 'Starts copies of itself without end.',
    saferAction: 'Bound the number of processes, for instance with xargs -P.',
  },
  {
    id: 'dynamic-script',
    reasonCode: 'shell.dynamic_script',
    description: 'Hands a shell or interpreter a script that only the run will show.',
    saferAction: 'Save the script to a file, read it, then run the file.',
  },
  {
    id: 'dynamic-executable',
    reasonCode: 'shell.dynamic_executable',
    description: 'Runs a program whose name only the run will show.',
    saferAction: 'Write the name of the program.',
  },
  {
    id: 'system-permissions',
    reasonCode: 'shell.system_permissions',
    description: 'Changes owner or mode of a system directory with all that is in it.',
    saferAction: 'Change the one file or project directory that needs it.',
  },
  {
    id: 'sysrq',
    reasonCode: 'shell.sysrq',
    description: 'Gives the kernel an emergency command.',
    saferAction: 'Ask a person with access to the machine.',
  },
  {
    id: 'reverse-shell',
    reasonCode: 'shell.reverse_shell',
    description: 'Connects a shell to the network.',
    saferAction: 'Use ssh with an account of your own.',
  },
  {
    id: 'crontab-remove',
    reasonCode: 'shell.crontab_remove',
    description: 'Removes every scheduled job of a user.',
    saferAction: 'Save crontab -l to a file and remove the one line there.',
  },
] as const satisfies readonly PackRule[]

export type RuleId = (typeof rules)[number]['id']

/** Program names for which text that does not parse is denied. */
export const executables = wordSet(`
  shutdown reboot poweroff halt telinit mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs
  mkfs.vfat mkfs.fat mkfs.ntfs mke2fs kill systemctl crontab chmod chown eval sh bash zsh dash
`)

/** They change the power state whenever they run. */
export const powerCommands = wordSet(`
  shutdown reboot poweroff halt openrc-shutdown pm-suspend pm-hibernate restart-computer
  stop-computer
`)

/** Programs that change it with such options or words. */
export const sessionEnds: ReadonlyMap<string, RegExp> = new Map([
  ['kexec', /^(?:-[a-z]{0,10}[ep][a-z]{0,10}|--(?:exec|force|load-panic))$/],
  ['pmset', /^(?:sleepnow|shutdownnow)$/],
  ['ipmitool', /^(?:off|cycle|reset|soft)$/],
  ['gnome-session-quit', /^--(?:power-off|reboot)$/],
  ['xfce4-session-logout', /^--(?:halt|reboot|suspend|hibernate)$/],
  ['rundll32', /SetSuspendState|ExitWindowsEx/i],
  ['launchctl', /^reboot$/],
  ['runit-init', /^[06]$/],
  ['wmic', /^(?:reboot|shutdown)$/i],
  ['s6-svscanctl', /^-\w*[678]/],
])

/** Names that concern the pack, except mkfs and similar. */
export const judged: ReadonlySet<string> = new Set([
  ...executables,
  ...shells,
  ...powerCommands,
  'source',
  '.',
  'exec',
  'iex',
  'invoke-expression',
  'loginctl',
  'init',
  'rtcwake',
  'dbus-send',
  'busctl',
  'gdbus',
  'awk',
  'gawk',
  'pwsh',
  'powershell',
  'qdbus',
  'fuser',
  'find',
  'xargs',
  'gxargs',
  'parallel',
  'gfind',
  'bfs',
  'chattr',
  'chcon',
  ...sessionEnds.keys(),
  'killall5',
  'pkill',
  'killall',
  'chgrp',
  'setfacl',
  'tee',
  'dd',
  'cp',
  'nc',
  'ncat',
  'netcat',
  'nc.traditional',
  'socat',
])

/** Verbs of systemctl and loginctl that change the power state. */
export const powerVerbs = wordSet(`
  poweroff reboot halt kexec soft-reboot emergency rescue suspend hibernate hybrid-sleep
  suspend-then-hibernate
`)

/** Units that change it when started. */
export const powerTargets =
  /^(poweroff|reboot|halt|kexec|soft-reboot|emergency|rescue|suspend|hibernate|hybrid-sleep|shutdown|runlevel[016])(\.target)?$/

/** Commands that fetch or decode text. */
export const fetchers = wordSet(`
  curl wget wget2 aria2c axel fetch http https xh lynx nc ncat netcat nc.traditional socat ftp tftp
  scp dig base64 gbase64 base32 iwr irm invoke-webrequest invoke-restmethod openssl xxd gpg uudecode
`)

/** Programs that print shell settings for eval. */
export const settingPrinters = wordSet(`
  ssh-agent gpg-agent keychain dircolors gdircolors lesspipe lesspipe.sh thefuck resize tset locale
  getopt luarocks opam fnm register-python-argcomplete path_helper
`)

/** Arguments with which many tools print shell settings. */
export const settingWords = wordSet(`
  shellenv shell-init init hook completion completions generate-shell-completion activate env
  docker-env export shell.bash shell.zsh virtualenv-init shell printenv export-credentials
`)

/**
 * System directories with everything below, except locally installed software and the usual places
 * of an image's application: `/usr/src/app`, `/usr/share/nginx/html`.
 */
export const systemTrees =
  /^(?!\/usr\/(?:(?:local|share)\/[^/]+|src)\/[^/*]|\/usr\/lib\/node_modules(?:\/|$))\/(bin|boot|dev|etc|lib|lib32|lib64|proc|sbin|sys|usr|System|Library|private\/etc)(\/|$)/

/** Directories with other owners' files: only the directory itself, not everything below. */
export const sharedRoots =
  /^\/((home|opt|root|run|srv|var|mnt|media|Users|Applications|private|private\/var|var\/(lib|log|spool|cache|run))(\/\*)?|\*|\.\*)?$/
