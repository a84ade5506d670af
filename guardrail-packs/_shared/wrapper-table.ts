import type { OptionTable } from './command-options.ts'
import { wordList } from './word-lists.ts'
import type { Wrapper } from './wrapper.ts'
import {
  cloudShell,
  cluster,
  compose,
  containers,
  inContainer,
  inPod,
  podContainers,
} from './wrapper-containers.ts'
import { launchers } from './wrapper-launchers.ts'
import { mergeWrappers } from './wrapper-lines.ts'
import { optionRunners } from './wrapper-options.ts'
import { remotes } from './wrapper-remote.ts'
import { users } from './wrapper-users.ts'

const plain: Wrapper = {}
const typed: Wrapper = { options: { short: 'cNt' }, joins: 'always' }
const afterOne: Wrapper = { operands: 1 }
const runsPlain: Wrapper = { subcommands: { exec: plain } }

const runnerOptions: OptionTable = {
  short: 'pwCnCcE',
  values: wordList(
    'package workspace filter dir cwd name prefix directory project python with from env-file',
  ),
}
const runner: Wrapper = { options: runnerOptions, text: ['--call', '-c'], lenient: true }
const runs = (...names: string[]): Wrapper => ({
  options: runnerOptions,
  subcommands: Object.fromEntries(names.map((name) => [name, runner])),
})
/** `saml2aws exec -a prod -- aws …`: gives a command its credentials. */
const credentials: Wrapper = {
  options: { short: 'adepr' },
  subcommands: {
    exec: { options: { short: 'adpr', values: ['profile'] }, scattered: true, operands: 1 },
  },
}

/** Commands that run another command, by executable. */
export const wrappers: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>(
    mergeWrappers(launchers, optionRunners, remotes, users, {
      env: {
        options: { short: 'uCaP', values: ['unset', 'chdir', 'argv0'] },
        assignments: true,
      },
      command: { inert: ['-v', '-V'], lookup: true },
      builtin: plain,
      exec: { options: { short: 'a' } },
      noglob: plain,
      nocorrect: plain,
      nohup: plain,
      nice: { options: { short: 'n', values: ['adjustment'] } },
      ionice: {
        options: { short: 'cnpPu', values: ['class', 'classdata', 'pid', 'pgid', 'uid'] },
        inert: ['-p', '-P', '-u'],
      },
      chrt: {
        options: {
          short: 'TPDp',
          values: wordList('sched-runtime sched-period sched-deadline pid'),
        },
        operands: 1,
      },
      taskset: { inert: ['-p', '--pid'], operands: 1 },
      numactl: {
        options: {
          short: 'ipPCNml',
          values: wordList('interleave preferred physcpubind cpunodebind membind'),
        },
      },
      prlimit: plain,
      cpulimit: { options: { short: 'lpeP', values: ['limit', 'pid', 'exe', 'path'] } },
      time: { options: { short: 'fo', values: ['format', 'output'] } },
      gtime: { options: { short: 'fo', values: ['format', 'output'] } },
      timeout: { options: { short: 'ks', values: ['kill-after', 'signal'] }, operands: 1 },
      gtimeout: { options: { short: 'ks', values: ['kill-after', 'signal'] }, operands: 1 },
      stdbuf: { options: { short: 'ioe', values: ['input', 'output', 'error'] } },
      unbuffer: plain,
      setsid: plain,
      chronic: plain,
      ts: plain,
      eatmydata: plain,
      fakeroot: { options: { short: 'lsifb', values: ['lib', 'faked'] }, shell: true },
      fakechroot: plain,
      firejail: { shell: true },
      proxychains: { options: { short: 'f' } },
      proxychains4: { options: { short: 'f' } },
      torsocks: plain,
      torify: plain,
      rlwrap: plain,
      'xvfb-run': {
        options: {
          short: 'efnps',
          values: wordList('error-file auth-file server-num xauth-protocol server-args'),
        },
      },
      'dbus-run-session': plain,
      'dbus-launch': plain,
      caffeinate: { options: { short: 'tw' } },
      arch: plain,
      catchsegv: plain,
      valgrind: plain,
      nocache: plain,
      setarch: { operands: 1, shell: true },
      linux32: { shell: true },
      linux64: { shell: true },
      chroot: { options: { values: ['userspec', 'groups'] }, operands: 1, shell: true },
      unshare: {
        options: {
          short: 'SGRwl',
          values: wordList(
            'setuid setgid root wd map-user map-group map-users map-groups propagation setgroups',
          ),
        },
        shell: true,
      },
      nsenter: {
        options: {
          short: 'tSGN',
          attached: 'muinpCTUrw',
          values: wordList('target setuid setgid net-socket'),
        },
        shell: true,
      },
      flock: {
        options: { short: 'wEc', values: wordList('timeout wait conflict-exit-code command') },
        operands: 1,
        text: ['-c', '--command'],
      },
      watch: {
        options: { short: 'nqs', values: wordList('interval equexit shotsdir') },
        joins: true,
      },
      strace: {
        options: {
          short: 'aeEIoOpPsSuUXb',
          values: wordList('expr trace output attach user env string-limit'),
        },
      },
      ltrace: { options: { short: 'aAeFlnopsuwxX' } },
      script: {
        options: {
          short: 'cEIOBToTm',
          values: wordList(
            'command echo log-in log-out log-io log-timing output-limit logging-format',
          ),
        },
        operands: 1,
        text: ['-c', '--command'],
        shell: true,
      },
      'systemd-run': {
        options: {
          short: 'pEMHut',
          values:
            wordList(`unit property description slice service-type uid gid nice working-directory setenv host
          machine on-active on-boot on-startup on-unit-active on-unit-inactive on-calendar timer-property path-property`),
        },
      },
      'systemd-inhibit': { options: { values: ['what', 'who', 'why', 'mode'] } },
      busybox: plain,
      shx: plain,
      'cross-env': { assignments: true },
      'env-cmd': { options: { short: 'ef' } },
      faketime: afterOne,
      perf: { subcommands: { stat: { options: { short: 'eIorx' } } } },
      sg: { scattered: true, text: ['-c'], options: { short: 'c' }, noCommand: true },
      mosh: { scattered: true, operands: 1 },
      adb: { options: { short: 's' }, subcommands: { shell: { joins: true, shell: true } } },
      wsl: { options: { short: 'du', values: wordList('distribution user cd') } },
      crictl: { subcommands: { exec: inContainer } },
      minikube: { subcommands: { ssh: { joins: true }, kubectl: cluster } },
      microk8s: { subcommands: { kubectl: cluster } },
      heroku: {
        subcommands: { run: { options: { short: 'ars', values: ['app', 'remote'] }, joins: true } },
      },
      lerna: { subcommands: { exec: plain } },
      nodemon: {
        options: { short: 'xweid', values: wordList('exec watch ext ignore delay signal') },
        text: ['-x', '--exec'],
        noCommand: true,
      },
      watchexec: {
        options: { short: 'ewidfs', values: wordList('exts watch ignore debounce filter signal') },
        joins: true,
      },
      rbenv: runsPlain,
      pyenv: runsPlain,
      asdf: runsPlain,
      toybox: plain,
      docker: containers,
      podman: podContainers,
      nerdctl: containers,
      'docker-compose': compose,
      'podman-compose': compose,
      kubectl: cluster,
      oc: cluster,
      k3s: { subcommands: { kubectl: cluster } },
      lxc: { subcommands: { exec: inPod } },
      incus: { subcommands: { exec: inPod } },
      multipass: { subcommands: { exec: inPod } },
      apptainer: { subcommands: { exec: inContainer } },
      singularity: { subcommands: { exec: inContainer } },
      vagrant: {
        subcommands: {
          ssh: {
            options: { short: 'c', values: ['command'] },
            scattered: true,
            text: ['-c', '--command'],
            noCommand: true,
          },
        },
      },
      sshpass: { options: { short: 'pfd' } },
      npx: runner,
      bunx: runner,
      pnpx: runner,
      uvx: runner,
      uv: runs('run'),
      bun: runs('x'),
      pnpm: runs('exec', 'dlx'),
      yarn: runs('exec', 'dlx'),
      npm: runs('exec', 'x'),
      poetry: runs('run'),
      pipenv: runs('run'),
      pdm: runs('run'),
      hatch: runs('run'),
      conda: runs('run'),
      mamba: runs('run'),
      bundle: runs('exec'),
      rtk: plain,
      mise: { subcommands: { exec: { scattered: true, operands: 0 }, x: { scattered: true } } },
      direnv: { subcommands: { exec: afterOne } },
      dotenv: { options: { short: 'efc' } },
      op: { subcommands: { run: { options: { values: ['env-file', 'account'] } } } },
      doppler: {
        subcommands: {
          run: {
            options: { short: 'pc', values: ['command', 'project', 'config'] },
            text: ['--command'],
          },
        },
      },
      'aws-vault': {
        subcommands: { exec: { options: { short: 'd', values: ['duration'] }, operands: 1 } },
      },
      'aws-okta': credentials,
      'aws-sso': credentials,
      chamber: credentials,
      saml2aws: credentials,
      gcloud: cloudShell,
      'nix-shell': {
        options: { short: 'pI', values: ['run', 'command', 'packages'] },
        scattered: true,
        text: ['--run', '--command'],
        noCommand: true,
      },
      tmux: {
        options: { short: 'cfLST' },
        subcommands: {
          ...Object.fromEntries(
            wordList(
              'new new-session neww new-window splitw split-window respawn-pane run run-shell',
            ).map((name) => [name, { options: { short: 'cenFsxytl' }, joins: true }]),
          ),
          // Typed text, usually into a shell.
          send: typed,
          'send-keys': typed,
        },
      },
      hyperfine: {
        options: {
          short: 'wmMrpcSPDLniu',
          values: wordList('prepare setup cleanup conclude warmup runs'),
        },
        text: ['--prepare', '-p', '--setup', '-s', '--cleanup', '-c', '--conclude'],
        joins: true,
      },
      entr: { options: { short: 's' }, text: ['-s'], lenient: true },
    }),
  ),
)
