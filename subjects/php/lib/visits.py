"""A PHP application, asked request by request: what it answers, what it
complains about, and its state between visitors.

One php-cgi worker on a Unix socket in a scratch directory, spoken to over
FastCGI; for applications that want one, one private MariaDB server. Nothing
listens on a network, and nothing is left running.
"""
import ctypes
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
import urllib.parse


class Problem(Exception):
    """Something that makes checking impossible."""


# --- request lists ----------------------------------------------------------

class Request:
    def __init__(self, words, line, setup):
        self.method, target = words[0], words[1]
        self.path, _, self.query = target.partition('?')
        self.body = words[2] if len(words) > 2 else ''
        self.line, self.setup = line, setup
        self.status = 200
        self.headers = []
        self.text = ' '.join(words)


def read_requests(path):
    """The visitors of a list, each a list of requests. A comment `# -> 302`
    gives the status of the request after it; without one it is 200."""
    visitors, status = [[]], 200
    with open(path, encoding='utf-8') as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip('\n')
            expected = re.match(r'# -> (\d+)$', line)
            if expected:
                status = int(expected[1])
            elif not line.strip() or line.startswith('#'):
                continue
            elif line == '---':
                visitors.append([])
            elif line[0] in ' \t':
                visitors[-1][-1].headers.append(
                    [s.strip() for s in line.split(':', 1)])
            else:
                setup = line.startswith('setup ')
                words = (line[6:] if setup else line).split(' ', 2)
                if len(words) < 2 or not words[1].startswith('/'):
                    raise Problem('%s:%d: no request' % (path, number))
                request = Request(words, number, setup)
                request.status, status = status, 200
                visitors[-1].append(request)
    return visitors


# --- FastCGI ----------------------------------------------------------------

def record(kind, content):
    return struct.pack('>BBHHBx', 1, kind, 1, len(content), 0) + content


def pair(name, value):
    name, value = name.encode(), value.encode()
    return struct.pack('>II', len(name) | 1 << 31, len(value) | 1 << 31) \
        + name + value


def receive(sock):
    """(standard output, standard error) of one request."""
    streams = {6: [], 7: []}
    reader = sock.makefile('rb')
    while True:
        head = reader.read(8)
        if len(head) < 8:
            raise Problem('php-cgi died')
        _, kind, _, length, padding = struct.unpack('>BBHHBx', head)
        content = reader.read(length + padding)[:length]
        if kind == 3:
            return b''.join(streams[6]), b''.join(streams[7])
        if kind in streams:
            streams[kind].append(content)


class Worker:
    """php-cgi on scratch/php.sock. Messages go to standard error, not into
    the page: pages are judged by themselves."""
    SETTINGS = ('display_errors=0', 'log_errors=1', 'error_log=',
                'error_reporting=-1', 'html_errors=0', 'output_buffering=4096',
                'date.timezone=UTC', 'opcache.enable=0',
                'session.gc_probability=0', 'max_execution_time=20')

    def __init__(self, scratch, environment, settings=()):
        self.path = os.path.join(scratch, 'php.sock')
        self.sessions = os.path.join(scratch, 'sessions')
        os.makedirs(self.sessions)
        program = shutil.which('php-cgi8.2') or shutil.which('php-cgi')
        if not program:
            raise Problem('php-cgi is missing: apt-get install php8.2-cgi')
        command = [program, '-b', self.path]
        for setting in self.SETTINGS + tuple(settings) + (
                'session.save_path=' + self.sessions,):
            command += ['-d', setting]
        env = dict(os.environ, PHP_FCGI_MAX_REQUESTS='0', **environment)
        env.pop('PHP_FCGI_CHILDREN', None)
        self.process = start(command, self.path, env=env)

    def ask(self, parameters, body):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(30)
            sock.connect(self.path)
            head = b''.join(pair(k, v) for k, v in parameters.items())
            message = record(1, struct.pack('>HB5x', 1, 0))
            message += record(4, head) + record(4, b'')
            for at in range(0, len(body), 60000):
                message += record(5, body[at:at + 60000])
            sock.sendall(message + record(5, b''))
            return receive(sock)

    def close(self):
        stop(self.process)


def start(command, path, **options):
    """Starts a server that ends with us and waits for its socket."""
    if len(path) > 107:
        raise Problem('%s: too long for a socket; set TMPDIR' % path)
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, **options,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGTERM))
    for _ in range(1200):
        if process.poll() is not None:
            raise Problem('%s does not start' % command[0])
        try:
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(path)
            return process
        except OSError:
            time.sleep(0.05)
    stop(process)
    raise Problem('%s does not answer' % command[0])


def stop(process):
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# --- MariaDB ----------------------------------------------------------------

class MariaDb:
    """A private server in `directory`, without network and without accounts.
    Schema `name` is what applications change, `name`_saved what they find."""

    def __init__(self, directory):
        self.socket = os.path.join(directory, 'db.sock')
        data = os.path.join(directory, 'data')
        os.makedirs(data)
        tool = shutil.which('mariadb-install-db')
        server = shutil.which('mariadbd') or shutil.which(
            'mariadbd', path='/usr/sbin:/usr/local/sbin')
        if not tool or not server:
            raise Problem('MariaDB is missing: apt-get install mariadb-server')
        user = ['--user=root'] if os.geteuid() == 0 else []
        made = subprocess.run(
            [tool, '--no-defaults', '--datadir=' + data, '--skip-test-db',
             *user], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode:
            raise Problem('mariadb-install-db: ' + made.stdout.decode())
        with open(os.path.join(directory, 'log'), 'wb') as log:
            self.process = start(
                [server, '--no-defaults', '--datadir=' + data,
                 '--socket=' + self.socket, '--skip-networking',
                 '--skip-grant-tables', '--innodb-buffer-pool-size=16M',
                 '--innodb-flush-log-at-trx-commit=0',
                 '--innodb-fast-shutdown=2',
                 '--pid-file=' + os.path.join(directory, 'pid'), *user],
                self.socket, stdout=log, stderr=log)

    def run(self, sql, schema=None):
        command = ['mariadb', '--no-defaults', '-N', '-B', '-S', self.socket]
        done = subprocess.run(command + ([schema] if schema else []),
                              input=sql.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode:
            raise Problem('mariadb: ' + done.stderr.decode())
        return done.stdout.decode()

    def load(self, name, schema_file):
        with open(schema_file, encoding='utf-8') as text:
            sql = text.read()
        for schema in (name, name + '_saved'):
            self.run('DROP DATABASE IF EXISTS %s; CREATE DATABASE %s'
                     ' CHARACTER SET utf8mb4' % (schema, schema))
            self.run(sql, schema)
        tables = self.run('SHOW TABLES', name).split()
        self.restore = 'SET foreign_key_checks = 0;' + ''.join(
            'DELETE FROM {1}; INSERT INTO {1} SELECT * FROM {0}_saved.{1};'
            'ALTER TABLE {1} AUTO_INCREMENT = 1;'.format(name, table)
            for table in tables)

    def reset(self, name):
        self.run(self.restore, name)

    def close(self):
        stop(self.process)


# --- one application --------------------------------------------------------

class Answer:
    def __init__(self, request, out, err):
        head, _, body = out.partition(b'\r\n\r\n')
        self.request = request
        self.body = body.decode('utf-8', 'replace')
        self.headers = [line.split(': ', 1)
                        for line in head.decode().split('\r\n') if line]
        self.status = 200
        self.type = ''
        for name, value in self.headers:
            if name.lower() == 'status':
                self.status = int(value[:3])
            elif name.lower() == 'content-type':
                self.type = value
        self.messages = err.decode('utf-8', 'replace')

    def cookies(self):
        for name, value in self.headers:
            if name.lower() == 'set-cookie':
                yield value.split(';')[0].split('=', 1)

    def location(self):
        return [v for n, v in self.headers if n.lower() == 'location']


class Site:
    """The application in `root`, with scratch files in `scratch`."""

    def __init__(self, root, scratch, environment, reset):
        self.root = os.path.realpath(root)
        self.reset = reset
        self.worker = Worker(scratch, environment)

    def visit(self, requests):
        """The answers to one visitor's requests, who finds everything new."""
        self.reset()
        for name in os.listdir(self.worker.sessions):
            os.unlink(os.path.join(self.worker.sessions, name))
        jar, answers = {}, []
        for request in requests:
            answer = self.ask(request, jar)
            jar.update(answer.cookies())
            answers.append(answer)
        return answers

    def ask(self, request, jar):
        path = urllib.parse.unquote(request.path)
        if path.endswith('/'):
            path += 'index.php'
        body = request.body.encode()
        parameters = {
            'GATEWAY_INTERFACE': 'CGI/1.1', 'REDIRECT_STATUS': '200',
            'SERVER_PROTOCOL': 'HTTP/1.1', 'SERVER_NAME': 'localhost',
            'REQUEST_METHOD': request.method, 'DOCUMENT_ROOT': self.root,
            'SCRIPT_FILENAME': self.root + path, 'SCRIPT_NAME': path,
            'REQUEST_URI': request.text.split(' ')[1],
            'QUERY_STRING': request.query, 'REMOTE_ADDR': '127.0.0.1',
        }
        if jar:
            parameters['HTTP_COOKIE'] = '; '.join(
                '%s=%s' % item for item in jar.items())
        if body:
            parameters['CONTENT_LENGTH'] = str(len(body))
            parameters['CONTENT_TYPE'] = 'application/x-www-form-urlencoded'
        for name, value in request.headers:
            parameters['HTTP_' + name.upper().replace('-', '_')] = value
        return Answer(request, *self.worker.ask(parameters, body))

    def close(self):
        self.worker.close()
