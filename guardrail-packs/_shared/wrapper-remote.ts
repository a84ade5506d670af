import { wordList } from './word-lists.ts'
import type { Wrapper } from './wrapper.ts'
import { wrapperLines } from './wrapper-lines.ts'

/** ssh settings whose value is run. */
export const sshSetting =
  /^\s*(?:proxycommand|localcommand|knownhostscommand|remotecommand)\s*[=\s]\s*/i

const awsGlobal = wordList('profile region output query endpoint-url')
const inTask: Wrapper = {
  options: { values: [...awsGlobal, ...wordList('cluster task container command')] },
  scattered: true,
  text: ['--command'],
  lenient: true,
  noCommand: true,
}
const documents: Wrapper = {
  options: {
    values: [
      ...awsGlobal,
      ...wordList('document-name targets parameters instance-ids target comment document-version'),
    ],
  },
  scattered: true,
  text: ['--parameters'],
  // `commands=["a","b"]`, `'{"commands": ["a"]}'`
  cut: /^[{\s"']*commands?["']?\s*[=:]\s*(?:\[\s*)?["']?/,
  trim: /["'\]}\s]{1,20}$/,
  lenient: true,
  noCommand: true,
}

/** Programs that run another on other machines. */
export const remotes: Readonly<Record<string, Wrapper>> = {
  aws: {
    options: { values: awsGlobal },
    subcommands: {
      ecs: { subcommands: { 'execute-command': inTask } },
      ssm: { subcommands: { 'send-command': documents, 'start-session': documents } },
    },
  },
  ...wrapperLines(`
    slogin,dbclient -BbcDeEFIiJLlmOopQRSWw +1 :always
    plink -PlipmDLRTOw --pw +1 :always
    rsh,rexec,remsh,rcmd,krsh -lkx +1 :always
    tsh ssh -lip --login +1 :always
    et -cpt =-c =--command
    pdsh -wxRlgtufnXqb :always
    dsh -mgfnroF -c :always
    clush -wxgXltufonRT :always
    pssh,parallel-ssh,prsync -hHlptoexXOPg --hosts --host --user --par --timeout --outdir --errdir --option :always
    mussh =-c -hHlitmupoO :noCommand
    tentakel,cexec,onall,gsh,psh -g :always
    knife ssh -xPGiaAmC +1 :always
    fab,fabric -HRixgukfItz --hosts >-- :noCommand
    mco,choria shell run :always
    bolt command run -tuipr --targets --user --rerun :scattered :always
    gh codespace,cs ssh -cps --codespace :always
    doctl compute ssh =--ssh-command :scattered :noCommand
    fly,flyctl ssh console =-C =--command -arog :scattered :noCommand
    fly,flyctl machine,machines,m exec -a --app +1 :scattered :always
    railway run,ssh -ses --service --environment :always
    cf ssh =-c =--command -i :scattered :noCommand
    dokku run,run:detached +1
    dokku enter +2
    eb ssh =-c =--command :scattered :noCommand
    docker-machine ssh +1 :always
    az vm,vmss run-command invoke =--scripts -gn --command-id --name --resource-group :scattered :noCommand
    az aks command invoke =-c =--command -gnf :scattered :noCommand
    az container exec =--exec-command -gn :scattered :noCommand
    az containerapp exec =--command -gn :scattered :noCommand
    az ssh vm >-- :noCommand
    ray exec +1 :scattered :always
    sky exec +1 :scattered :always
    psexec,psexec64,paexec,winexe -up +1
    winrs +1
    juju ssh,run,exec -mu --unit --application --machine --all :scattered :always
    virtctl ssh =--command =-c :scattered :noCommand
    lando,ddev ssh,exec,x =-c =--command -sd :always
    sail exec,shell +1
  `),
}
