import {
  type AwsCredentialOptions,
  type AwsCredentialSource,
  type AwsCredentials,
  awsCredentials,
} from '../../../providers/_shared/aws-credentials.ts'
import type { Config } from './config.ts'

/** The credentials that calls are signed with, as `auth` says. */
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
      // The same object while they are the same: the signer keeps its derived key by it.
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
