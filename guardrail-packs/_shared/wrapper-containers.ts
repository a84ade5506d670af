import type { OptionTable } from './command-options.ts'
import { type Wrapper, words } from './wrapper.ts'

const containerOptions: OptionTable = {
  short: 'abcehlmpuvw',
  values:
    words(`add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile
    cpu-period cpu-quota cpu-shares cpus cpuset-cpus cpuset-mems detach-keys device dns dns-search domainname
    entrypoint env env-file expose gpus group-add health-cmd health-interval hostname index ip ipc
    isolation label label-file link log-driver log-opt mac-address memory memory-swap mount name network
    network-alias oom-score-adj pid pids-limit platform publish pull restart runtime scale security-opt
    shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume
    volume-driver volumes-from workdir`),
}
export const inContainer: Wrapper = {
  options: containerOptions,
  operands: 1,
  program: '--entrypoint',
  text: ['--health-cmd'],
}
export const compose: Wrapper = {
  options: {
    short: 'fp',
    values: ['file', 'project-name', 'profile', 'env-file', 'project-directory'],
  },
  subcommands: { exec: inContainer, run: inContainer },
}
export const containers: Wrapper = {
  options: {
    short: 'cHl',
    values: ['context', 'host', 'config', 'log-level', 'connection', 'url'],
  },
  subcommands: {
    exec: inContainer,
    run: inContainer,
    create: inContainer,
    compose,
    container: { subcommands: { exec: inContainer, run: inContainer, create: inContainer } },
  },
}
export const inPod: Wrapper = {
  options: {
    short: 'cfnlL',
    values: words(
      'container filename namespace context kubeconfig cluster user as image overrides restart labels env',
    ),
  },
  scattered: true,
  operands: 1,
}
export const cluster: Wrapper = {
  options: {
    short: 'nsv',
    values: words('namespace context kubeconfig cluster user as server token'),
  },
  subcommands: { exec: inPod, run: inPod, debug: inPod, rsh: { ...inPod, scattered: false } },
}

const remote: OptionTable = {
  values: words('account command configuration project ssh-key-file zone'),
}
const remoteCommand: Wrapper = {
  options: remote,
  scattered: true,
  text: ['--command'],
  ssh: true,
}
const machines: Wrapper = { options: remote, subcommands: { ssh: remoteCommand } }
const accelerators: Wrapper = { options: remote, subcommands: { 'tpu-vm': machines } }
const cloudGroups: Readonly<Record<string, Wrapper>> = {
  'cloud-shell': machines,
  compute: { options: remote, subcommands: { ssh: remoteCommand, tpus: accelerators } },
  workstations: machines,
}
/** `gcloud compute ssh vm --command '…'`, in every release track. */
export const cloudShell: Wrapper = {
  options: remote,
  subcommands: {
    ...cloudGroups,
    alpha: { options: remote, subcommands: cloudGroups },
    beta: { options: remote, subcommands: cloudGroups },
  },
}
