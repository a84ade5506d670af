import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes `<name>.key` and `<name>.pem`, a key and a certificate with an X.509 extension, in a folder.
 * It is signed by `ca`, which was made in the same folder before, or by itself.
 */
export function certify(folder: string, name: string, extension: string, ca?: string) {
  const at = (file: string) => join(folder, file)
  const made = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
    ...['-nodes', '-days', '2', '-subj', `/CN=${name}`],
    ...['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`), '-addext', extension],
    ...(ca === undefined ? [] : ['-CA', at(`${ca}.pem`), '-CAkey', at(`${ca}.key`)]),
  ])
  if (made.exitCode !== 0) throw new Error(`openssl: ${made.stderr}`)
  const read = (file: string) => readFileSync(at(file), 'utf8')
  return { key: read(`${name}.key`), cert: read(`${name}.pem`) }
}

/** The extension of a certificate that may sign others. */
export const MAY_SIGN = 'keyUsage=critical,keyCertSign'
