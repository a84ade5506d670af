import type { OptionTable } from './command-options.ts'
import { wordList } from './word-lists.ts'
import type { Wrapper } from './wrapper.ts'

const containerOptions: OptionTable = {
  short: 'abcehlmpuvw',
  values:
    wordList(`add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile
    cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares cpus cpuset-cpus cpuset-mems detach-keys device device-cgroup-rule
    device-read-bps device-read-iops device-write-bps device-write-iops dns dns-opt dns-option dns-search domainname
    entrypoint env env-file expose gpus group-add health-cmd health-interval health-retries
    health-start-interval health-start-period health-timeout hostname index ip ip6 ipc isolation label label-file link log-driver log-opt mac-address memory memory-reservation memory-swap
    memory-swappiness mount name network
    network-alias oom-score-adj pid pids-limit platform publish pull restart runtime scale security-opt
    shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume
    volume-driver volumes-from workdir`),
  // Prefixes of other option names.
  flags: wordList('detach init latest passwd'),
}
export const inContainer: Wrapper = {
  options: containerOptions,
  operands: 1,
  program: '--entrypoint',
  text: ['--health-cmd'],
}
/** Options of podman only. */
const podOptions: OptionTable = {
  ...containerOptions,
  values: [
    ...(containerOptions.values ?? []),
    ...wordList(`arch authfile blkio-weight-device cert-dir cgroup-conf cgroups chrootdirs conmon-pidfile creds
    decryption-key env-merge gidmap group-entry health-log-destination health-max-log-count
    health-max-log-size health-on-failure health-startup-cmd health-startup-interval health-startup-retries
    health-startup-success health-startup-timeout hosts-file hostuser image-volume init-ctr init-path os
    passwd-entry personality pidfile pod pod-id-file preserve-fd preserve-fds rdt-class requires retry
    retry-delay sdnotify seccomp-policy secret shm-size-systemd subgidname subuidname systemd timeout tz
    uidmap umask unsetenv variant wait`),
  ],
}
const inPodman: Wrapper = { ...inContainer, options: podOptions }
/** `-l` is the last started container, so all operands are the command. */
const latest: OptionTable = { ...podOptions, short: 'euw' }
const execInPodman: Wrapper = {
  options: latest,
  operands: 1,
  instead: { options: ['-l', '--latest'], wrapper: { options: latest } },
}
export const compose: Wrapper = {
  options: {
    short: 'fp',
    values: ['file', 'project-name', 'profile', 'env-file', 'project-directory'],
  },
  subcommands: { exec: inContainer, run: inContainer },
}
const engineOptions: OptionTable = {
  short: 'cHl',
  values: ['context', 'host', 'config', 'log-level', 'connection', 'url'],
}
export const containers = engine(inContainer, inContainer)
export const podContainers = engine(execInPodman, inPodman)

function engine(exec: Wrapper, run: Wrapper): Wrapper {
  const subcommands = { exec, run, create: run }
  return {
    options: engineOptions,
    subcommands: { ...subcommands, compose, container: { subcommands } },
  }
}
export const inPod: Wrapper = {
  options: {
    short: 'cfnlL',
    values: wordList(
      'container filename namespace context kubeconfig cluster user as image overrides restart labels env',
    ),
  },
  scattered: true,
  operands: 1,
}
export const cluster: Wrapper = {
  options: {
    short: 'nsv',
    values: wordList('namespace context kubeconfig cluster user as server token'),
  },
  subcommands: { exec: inPod, run: inPod, debug: inPod, rsh: { ...inPod, scattered: false } },
}

const remote: OptionTable = {
  values: wordList('account command configuration project ssh-key-file zone'),
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
