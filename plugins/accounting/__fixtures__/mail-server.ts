import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** Who signed in, over TLS. */
  readonly user: string | undefined
  readonly from: string
  readonly to: readonly string[]
  /** Head and body, soft line ends of quoted-printable undone. */
  readonly text: string
}

export interface MailServerOptions {
  readonly port?: number
  /** With these, who sends has to change to TLS and to sign in. */
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly password?: string
}

/** An SMTP server on a loopback port that takes every mail, by default without TLS. */
export async function startMailServer({ port = 0, tls, password }: MailServerOptions = {}) {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    ...(tls === undefined ? { authOptional: true, disabledCommands: ['STARTTLS'] } : tls),
    onAuth({ username, password: given }, _session, done) {
      done(given === password ? null : new Error('wrong password'), { user: username })
    },
    onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope
        mails.push({
          user: secure ? user : undefined,
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString().replaceAll('=\r\n', ''),
        })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    stop: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}
