import type { Wrapper } from './wrapper.ts'
import { wrapperLines } from './wrapper-lines.ts'

/**
 * Programs that run another on this machine: with other rights, in a sandbox, later, repeatedly, or
 * traced.
 */
export const launchers: Readonly<Record<string, Wrapper>> = {
  ...wrapperLines(`
    run0 -uguDp --user --group --nice --chdir --slice --unit --description --property --setenv --background --machine :shell
    pfexec -P
    please -ud
    newgrp +1 :shell
    runcon -utrl --user --type --role --range +1
    newrole -rtl :joins
    proot,chroot-distro -rbwqkpni --rootfs --bind --cwd :shell
    schroot -cnDusp --chroot --session-name --directory --user --shell --preserve-environment :shell
    systemd-nspawn -DMuipEUSZLnx --directory --machine --user --bind --bind-ro --setenv --image --property --template :shell
    machinectl shell --uid --setenv -EMH +1 :shell
    arch-chroot,artix-chroot -uN +1 :shell
    toolbox run -crd --container --release --distro
    distrobox enter -na --name --additional-flags >-- >-e
    distrobox-enter -na --name --additional-flags >-- >-e
    flatpak run %--command +1
    flatpak-spawn
    lxc-attach -nPeslLogufv --name --lxcpath :shell
    lxc-execute -nPfsgu --name --lxcpath
    minijail0 -bcCeghiklmMnPRSTuvw
    nsjail -CxcHDuglTRBmNsE --config --chroot --user --group --cwd
    isolate >--
    sandbox-exec -fnpD
    sandbox -HTtwWil
    cgexec -g
    cset shield >--exec >-e >--
    cset proc >--exec >-e >--
    hwloc-bind +1
    trickle -udwtslP
    tsocks
    proxychains-ng -f
    ip netns exec +1
    ip vrf exec +1
    fakeroot-ng -lpd
    pseudo -dPvx
    chpst -uUbecnmdoplfrt/
    softlimit -acdfmoprst
    envdir,s6-envdir +1
    envuidgid,setuidgid,s6-setuidgid,s6-applyuidgid +1
    setlock,s6-setlock,lckdo,with-lock-ex +1
    with-contenv
    tini,dumb-init,catatonit -ep
    daemonize -acelopuE
    daemon -nUupodblrLMF --name --user --pidfile --output
    start-stop-daemon -upxnagcdrNPIk --user --pidfile --name --chuid --chdir --chroot %--exec
    systemd-cat -tp --identifier --priority
    supervise-daemon +1
    ssh-agent -aEtPO ?-k
    gpg-agent >--daemon
    datefudge +1
    rlwrap,rlfe -abcCfhiHlmnNoOPqrsStuwzZ
    primusrun,optirun,gamemoderun,mangohud,prime-run,wine,wine64,box64,box86
    qemu-x86_64,qemu-x86_64-static,qemu-aarch64,qemu-aarch64-static,qemu-i386 -LEUgsd
    ld-linux-x86-64.so.2,ld-linux-aarch64.so.1,ld-linux.so.2,ld-musl-x86_64.so.1,ld.so --library-path --preload --argv0
    coreutils,sbase-box,ubase-box,9base
    repeat +1
    timelimit -tTsS
    multitime -inlr
    retry -tdsmx --times --delay --sleep --max --tries
    ifne
    logsave +1
    noti -mto
    zsh-defer -t
    mpirun,mpiexec,orterun -nHpx --np --host --hostfile 
    srun,salloc -nNpJtcAwxoei --ntasks --nodes --partition --job-name --time --cpus-per-task --mem --gres
    sbatch =--wrap -nNpJtcA :noCommand
    bsub -JnqoeRWMmwGP :joins
    dtach,abduco,diss -ncAaNerEz
    zellij run -ndcx >--
    winpty
    xterm,urxvt,rxvt,st,zutty,konsole,terminology,cool-retro-term,alacritty,x-terminal-emulator >-e
    gnome-terminal,xfce4-terminal,mate-terminal,lxterminal,tilix,terminator,guake =-e =--command >-x >-- :noCommand
    kitty,foot -dcTo
    wezterm start >--
    asciinema rec =-c =--command -it :noCommand
    ttyrec =-e :noCommand
    ttyd,gotty -pcuUgitIdbmwS --port --credential
    websocketd
    tcpserver,tcpsvd +2
    launchctl submit -lpoe >--
    launchctl asuser,bsexec +1
    truss,dtruss,ktrace,dtrace -opsfnt =-c
    uftrace record,live -AFfDt
    perf record,trace,mem,c2c -eocFgpt >--
    rr,heaptrack,operf,samply,gprofng,nsys,ncu record,profile,collect -o
    heaptrack,operf,vtune,coz >--
    trace-cmd record -epoO
    bpftrace =-c -pef :noCommand
    memusage,sotruss
    gdb,cgdb,gdb-multiarch >--args :noCommand
    lldb >-- :noCommand
    nix develop,shell >-c >--command :noCommand
    guix shell,environment,home >-- :noCommand
    devbox,flox,devenv,pixi,rye,shadowenv run,exec,shell,activate -ecdm >--
    pipx,micromamba,tox,volta,hatch,rye,pixi run,exec,x -npe --name --prefix --spec --python --node --npm --environment
    uv tool run --from --with --python -p
    nodenv,jenv,goenv,plenv,phpenv,exenv,swiftenv,volta exec
    nvm,n exec,run,use +1
    fnm exec --using
    corepack
    npm,pnpm explore +1
    npm =--script-shell
    nx exec
    cargo watch =-s =--shell -xwid :noCommand
    go test,run,build,vet,install,generate :singleDash =-exec =-toolexec :noCommand
    just >-c >--command :noCommand
    dotenvx,infisical,teller,envconsul,doppler,varlock run >--
    envchain +1
    summon -fpDe
    sops exec-env,exec-file +1 :always
    reflex,gow,wgo -rRgGs >--
    when-changed,whenchanged >-c
    watchfiles --filter --args --target-type :always
    watchmedo shell-command,auto-restart =-c =--command :noCommand
    chokidar =-c =--command :noCommand
    onchange,wach >-- :noCommand
    ptw,pytest-watch =--onpass =--onfail =--runner =--beforerun =--afterrun :noCommand
    air =--build.cmd =--build.bin :noCommand
    viddy,hwatch,gwatch -nd --interval :joins
    forever,pm2 start -cnifw --name --interpreter :always
    wmic process call create :always
    pct,qm exec +1
    lima,orb -mupw
    limactl shell --workdir +1
    colima ssh >--
    buildah,podman,nerdctl unshare
    buildah run -v --volume --user --isolation +1
    ctr task,tasks,t exec --exec-id --cwd --user +1
    ctr run --mount --env +2
    nomad alloc exec :singleDash -task -job -e +1
    okteto exec -nfc >--
  `),
}
