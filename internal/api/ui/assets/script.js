'use strict';
// All pages work without this file. It adds progress to forms, a filter to tables, a zone
// to drop files, and buttons that copy.

// send posts a form and shows its events; forms without [data-live] are sent by the browser.
async function send(form) {
  const status = statusOf(form);
  const buttons = form.querySelectorAll('button');
  buttons.forEach(b => b.disabled = true);
  status.show({text: 'sending', done: 0, total: 0});
  try {
    for (const input of form.querySelectorAll('input[data-most]'))
      if (input.files[0]?.size > input.dataset.most) throw new Error(input.dataset.refusal);
    const data = new FormData(form);
    const answer = await post(form.action, form.enctype === 'multipart/form-data' ? data : new URLSearchParams(data), status);
    if (!answer.ok) throw new Error((await answer.json()).error);
    for await (const [name, value] of events(answer.body)) {
      if (name === 'progress') status.show(value);
      if (name === 'failed') throw new Error(value.error);
      if (name === 'done' && value.to) { location.assign(new URL(value.to, form.action)); return; }
      if (name === 'done') { replace(value, form.action); return; }
    }
    throw new Error('the connection ended before the answer');
  } catch (e) {
    status.fail(e.message);
  } finally {
    buttons.forEach(b => b.disabled = false);
  }
}

// post sends data and shows how much of them is sent, which fetch does not report. The
// answer is read while it arrives.
function post(to, data, status) {
  return new Promise((done, failed) => {
    const x = new XMLHttpRequest();
    const lost = fail => () => fail(new Error('the connection ended before the answer'));
    let read = 0;
    x.open('POST', to);
    x.setRequestHeader('Accept', 'text/event-stream');
    x.upload.onprogress = e => status.show({text: 'bytes sent:', done: e.loaded, total: e.total});
    x.onreadystatechange = () => {
      if (x.readyState !== XMLHttpRequest.HEADERS_RECEIVED) return;
      const body = new ReadableStream({start(c) {
        x.onprogress = () => { c.enqueue(new TextEncoder().encode(x.responseText.slice(read))); read = x.responseText.length; };
        x.onload = () => { x.onprogress(); c.close(); };
        x.onerror = lost(e => c.error(e));
      }});
      done(new Response(body, {status: x.status}));
    };
    x.onerror = lost(failed);
    x.send(data);
  });
}

// events yields the name and the data of each server-sent event of a stream.
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split('\n');
      yield [lines[0].slice('event: '.length), JSON.parse(lines[1].slice('data: '.length))];
    }
  }
}

// replace shows the result of an action in place of the page's content. Its links are
// relative to the address of the form. The chosen file stays chosen.
function replace({html, title}, action) {
  const to = new URL(action);
  to.search = '';
  if (to.pathname !== location.pathname) {
    document.querySelectorAll('link, header a, footer a').forEach(e => { e.href = e.href; }); // absolute
    document.querySelectorAll('header form').forEach(e => { e.action = e.action; });
    history.pushState(null, '', to);
  }
  const main = document.getElementById('main');
  const chosen = main.querySelector('input[type=file]')?.files;
  main.innerHTML = html;
  const input = main.querySelector('input[type=file]');
  if (input && chosen) input.files = chosen;
  document.title = title + ' · Symbolon';
  enhance(main);
  main.focus();
}

// statusOf returns the place below a form for its progress and its error.
function statusOf(form) {
  let box = form.parentElement.querySelector(':scope > .status');
  if (!box) {
    box = document.createElement('div');
    box.className = 'status';
    box.setAttribute('role', 'status');
    form.after(box);
  }
  return {
    show({text, done, total}) {
      const bar = document.createElement('progress');
      bar.setAttribute('aria-label', text);
      if (total > 0) { bar.max = total; bar.value = done; }
      box.className = 'status';
      box.replaceChildren(bar, ' ' + text + (total > 0 ? ` ${done} of ${total}` : ''));
    },
    fail(text) { box.className = 'status bad'; box.replaceChildren(text); },
  };
}

// enhance adds what scripts can do to the elements below a node.
function enhance(root) {
  root.querySelectorAll('form[data-live]').forEach(form => form.addEventListener('submit', e => {
    if (e.submitter?.hasAttribute('formaction')) return; // it downloads a file
    e.preventDefault();
    send(form);
  }));
  root.querySelectorAll('input[data-filter]').forEach(filterRows);
  root.querySelectorAll('.drop').forEach(dropZone);
  root.querySelectorAll('button[data-copy]').forEach(button => {
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = 'Copied';
    });
  });
}

// filterRows hides the rows of the table of a page that do not contain the text of an input.
function filterRows(input) {
  const rows = document.querySelector('main tbody').rows;
  input.addEventListener('input', () => {
    const text = input.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(text);
  });
}

// dropZone sends files that are dropped on a zone by its form.
function dropZone(zone) {
  const input = zone.querySelector('input[type=file]');
  const submit = () => { if (!('hold' in zone.dataset)) input.form.requestSubmit(); }; // else its button does
  const over = is => e => { e.preventDefault(); zone.classList.toggle('over', is); };
  zone.addEventListener('dragover', over(true));
  zone.addEventListener('dragleave', over(false));
  zone.addEventListener('drop', e => {
    over(false)(e);
    if (e.dataTransfer.files.length === 0) return;
    input.files = e.dataTransfer.files;
    input.dispatchEvent(new Event('change'));
  });
  const text = input.form.querySelector('textarea'); // a form sends a text or a file
  text?.addEventListener('input', () => { input.value = ''; });
  input.addEventListener('change', () => {
    if (input.files.length === 0) return;
    if (text) text.value = '';
    submit();
  });
}

enhance(document);
addEventListener('popstate', () => location.reload()); // the content is that of another address
for (const name of ['dragover', 'drop']) // a file beside the zone would replace the page
  addEventListener(name, e => { if (document.querySelector('.drop')) e.preventDefault(); });
