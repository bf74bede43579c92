"""Whoever asks a data centre: the surface of a session, over HTTP.

Optional: `pip install 'optcomp[client]'`.
"""

from optcomp.extras import needed

needed("httpx", "client")  # looked for here, so that its absence is told in one place

from optcomp.client.async_client import AsyncClient, AsyncRemotePlan, AsyncRemoteRun, AsyncRemoteSession
from optcomp.client.client import Client, RemotePlan, RemoteRun, RemoteSession
from optcomp.client.failures import NotServed

__all__ = [
    "AsyncClient",
    "AsyncRemotePlan",
    "AsyncRemoteRun",
    "AsyncRemoteSession",
    "Client",
    "NotServed",
    "RemotePlan",
    "RemoteRun",
    "RemoteSession",
]
