/** The options and verbs of a program: enough to tell its verb from the value of an option. */
export interface ProgramTable {
  /** Options that take a value, so that the value is not read as an argument. */
  readonly valued: ReadonlySet<string>
  /** Any other first argument is unreadable: the value of an unlisted option, or a plugin. */
  readonly verbs: ReadonlySet<string>
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

export const kubectl: ProgramTable = {
  valued: words(
    `-n --namespace -f --filename -k --kustomize -l --selector -o --output -c --container -s --server
     --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key
     --cluster --context --field-selector --grace-period --kubeconfig --password --profile
     --profile-output --request-timeout --timeout --tls-server-name --token --user --username -v --v
     --vmodule --cascade --raw --since --tail --type -p --patch --replicas --image --from-file
     --from-literal`,
  ),
  verbs: words(
    `annotate api-resources api-versions apply attach auth autoscale certificate cluster-info
     completion config cordon cp create debug delete describe diff drain edit events exec explain
     expose get kustomize label logs options patch plugin port-forward proxy replace rollout run
     scale set taint top uncordon version wait`,
  ),
}

export const helm: ProgramTable = {
  valued: words(
    `-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-group --kube-as-user
     --kube-ca-file --kube-tls-server-name --kube-token --registry-config --repository-cache
     --repository-config --burst-limit --qps --cascade --description --timeout --version -f --values
     --set --set-string --set-file --set-json --repo --output -o`,
  ),
  verbs: words(
    `completion create dependency dep env get help history hist install list ls lint package plugin
     pull push registry repo rollback search show status template test upgrade verify version
     uninstall un delete del`,
  ),
}
