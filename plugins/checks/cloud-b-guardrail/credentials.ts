import {
  type AwsCredentialOptions,
  type AwsCredentialSource,
  type AwsCredentials,
  awsCredentials,
} from '../../../providers/_shared/aws-credentials.ts'
import type { Config } from './config.ts'

/** The credentials for signing calls, as configured in `auth`. */
export function credentialSource(
  auth: Config['auth'],
  options: AwsCredentialOptions,
): AwsCredentialSource {
  if (auth === undefined || auth.kind === 'default_chain') {
    return awsCredentials({ mode: 'default_chain' }, options)
  }
  let last: AwsCredentials | undefined
  return {
    async get() {
      const [accessKeyId, secretAccessKey, sessionToken] = await Promise.all([
        auth.access_key_id.revealCurrent(),
        auth.secret_access_key.revealCurrent(),
        auth.session_token?.revealCurrent(),
      ])
      const unchanged =
        last?.accessKeyId === accessKeyId &&
        last.secretAccessKey === secretAccessKey &&
        last.sessionToken === sessionToken
      // Return the same object while the credentials are unchanged, because the signer caches its
      // derived key by it.
      if (last === undefined || !unchanged) {
        last = {
          accessKeyId,
          secretAccessKey,
          ...(sessionToken === undefined ? {} : { sessionToken }),
        }
      }
      return last
    },
    refused() {},
  }
}
