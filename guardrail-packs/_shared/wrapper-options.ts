import { wordList } from './word-lists.ts'
import type { Wrapper } from './wrapper.ts'
import { wrapperLines } from './wrapper-lines.ts'
import { sshSetting } from './wrapper-remote.ts'

const archiver: Wrapper = {
  options: {
    short: 'bCfFgHIKLNTVX',
    values:
      wordList(`file directory use-compress-program to-command info-script new-volume-script rsh-command
      rmt-command checkpoint checkpoint-action files-from exclude exclude-from transform format newer mtime owner group`),
  },
  scattered: true,
  text: wordList(`-I --use-compress-program --to-command -F --info-script --new-volume-script --rsh-command
    --rmt-command --checkpoint-action`),
  cut: /^exec=/,
  lenient: true,
  noCommand: true,
}

const copier: Wrapper = {
  options: { short: 'SDocFiJlPX' },
  text: ['-S', '-D', '-o'],
  cut: sshSetting,
  lenient: true,
  noCommand: true,
}

/** Settings of apt and dpkg that are run: `-o APT::Update::Pre-Invoke::=…`. */
const packager: Wrapper = {
  ...wrapperLines('apt =-o =--option -ct --config-file --target-release :scattered :noCommand').apt,
  cut: /^[\w:-]*(?:invoke|command|proxy-auto-detect)[\w:-]*=/i,
}

/** Programs with another purpose that run the value of some options. */
export const optionRunners: Readonly<Record<string, Wrapper>> = {
  scp: copier,
  sftp: copier,
  tar: archiver,
  gtar: archiver,
  bsdtar: archiver,
  apt: packager,
  'apt-get': packager,
  'apt-cache': packager,
  ...wrapperLines(`
    rsync =-e =--rsh =--rsync-path -fBMTx --exclude --include --filter --files-from :scattered :noCommand
    sort,gsort =--compress-program -kotST --key --output --parallel :scattered :noCommand
    split,gsplit =--filter -abClnt :scattered :noCommand
    cpio =--rsh-command -CDEFHIMORW :scattered :noCommand
    dump,restore,xfsdump =-F -fTLhbsdDt :scattered :noCommand
    man =-P =--pager =-H =--html -CRMSrpEL :scattered :noCommand
    tcpdump =-z -iwrcsCGFMTyW :scattered :noCommand
    svn =--editor-cmd =--diff-cmd =--diff3-cmd -mFr :scattered :noCommand
    rg =--pre =--hostname-bin :scattered :noCommand
    bat,batcat,delta,ag,ack =--pager :scattered :noCommand
    fzf,sk,skim =--preview =-c =--cmd :scattered :noCommand
    aria2c =--on-download-complete =--on-download-start =--on-download-error =--on-bt-download-complete :scattered :noCommand
    wget =--use-askpass -OPoaitTQUewI :scattered :noCommand
    rclone,restic,borg =--password-command :scattered :noCommand
    openvpn =--up =--down =--route-up =--ipchange =--tls-verify =--client-connect =--learn-address :scattered :noCommand
    dpkg =--pre-invoke =--post-invoke =--status-logger :scattered :noCommand
    dnsmasq =--dhcp-script :scattered :noCommand
    
    gcc,g++,cc,c++,clang =-wrapper :singleDash :scattered :noCommand
    xdotool exec
    i3-msg,swaymsg,hyprctl exec :joins
    unison =-sshcmd =-rshcmd :singleDash :scattered :noCommand
    mutt,neomutt =-e :scattered :noCommand
    repo forall =-c =--command :noCommand
    mr,gr,mu-repo,vcs run,custom :joins
  `),
}
