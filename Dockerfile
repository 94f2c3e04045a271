# attnviz in a container. Nothing is fetched at run time: the model comes with a Python package.
#
#   docker build -t attnviz .
#   docker run --rm -p 8501:8501 attnviz        then open http://localhost:8501
#
# torch is the CPU build, from PyTorch's own index beside the usual one. For the CUDA build:
#   docker build --build-arg TORCH_INDEX= -t attnviz .

ARG PYTHON_IMAGE=python:3.11-slim-bookworm

# --- builder: a virtual environment with the pinned versions ---
FROM ${PYTHON_IMAGE} AS builder
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/venv
COPY requirements.txt requirements.lock /build/
# every package but torch by its hash; torch's builds have different ones (docs/dependencies.md)
RUN /opt/venv/bin/python -m pip install --require-hashes --no-deps -r /build/requirements.lock
RUN /opt/venv/bin/python -m pip install \
    ${TORCH_INDEX:+--extra-index-url "${TORCH_INDEX}"} -r /build/requirements.txt

# --- runtime: that environment, the sources, a user without rights ---
FROM ${PYTHON_IMAGE} AS runtime
ENV PATH=/opt/venv/bin:${PATH} \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1 \
    TRANSFORMERS_OFFLINE=1 \
    HF_HUB_DISABLE_TELEMETRY=1 \
    TOKENIZERS_PARALLELISM=false
RUN useradd --create-home --uid 10001 attnviz
COPY --from=builder /opt/venv /opt/venv
WORKDIR /app
COPY LICENSE app.py ./
COPY .streamlit/config.toml .streamlit/config.toml
COPY attnviz/ attnviz/
COPY pages/ pages/
# the user may write nothing here: without bytecode each start would compile every file
RUN python -m compileall -q app.py attnviz pages
USER attnviz
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.port=8501", "--server.address=0.0.0.0"]
